#include "lzero/train/collapse.h"

#include "absl/strings/str_format.h"

namespace lzero {
namespace {

constexpr double kCollapsedSpread = 5e-3;  // of the norm
constexpr int64_t kFirstUpdate = 1000;
constexpr double kDivergedLoss = 50.0;

}  // namespace

std::optional<std::string> CollapseWarning(const MetricMap& metrics, int64_t updates) {
  if (updates < kFirstUpdate) return std::nullopt;
  const auto spread = metrics.find("latent/spread"), norm = metrics.find("latent/norm");
  if (spread == metrics.end() || norm == metrics.end()) return std::nullopt;
  if (!(spread->second < kCollapsedSpread * norm->second)) return std::nullopt;
  return absl::StrFormat(
      "latents have collapsed: their spread over a batch is %.2g at a norm of %.2g (latent/spread, "
      "latent/norm), so all observations look alike; lower train.learning_rate or "
      "loss.latent_weight",
      spread->second, norm->second);
}

std::optional<std::string> DivergenceWarning(const MetricMap& metrics) {
  for (const char* name : {"loss/value", "loss/reward"}) {
    const auto metric = metrics.find(name);
    if (metric == metrics.end() || !(metric->second > kDivergedLoss)) continue;
    return absl::StrFormat("the training diverges: %s is %.2g; lower train.learning_rate", name,
                           metric->second);
  }
  return std::nullopt;
}

}  // namespace lzero
