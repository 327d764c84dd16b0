#include "lzero/packed/observation_norm.h"

#include <algorithm>
#include <cmath>

namespace lzero::packed {
namespace {

int64_t SizeOf(const ModelConfig& config, int64_t observation_size) {
  return config.normalize_observations ? observation_size : 0;
}

}  // namespace

ObservationNorm::ObservationNorm(const ModelConfig& config, int64_t observation_size)
    : scales_(config.encoder == EncoderKind::kVector),
      mean_(SizeOf(config, observation_size)),
      factors_(SizeOf(config, observation_size)) {
  std::fill_n(factors_.data(), factors_.size(), 1.0f);
}

int64_t ObservationNorm::Bytes(const ModelConfig& config, int64_t observation_size) {
  return 2 * SizeOf(config, observation_size) * static_cast<int64_t>(sizeof(float));
}

void ObservationNorm::Load(const WeightSource& weights, const std::string& module) {
  if (!is_on()) return;
  const auto mean = weights.Get(module + ".mean", {mean_.size()});
  std::copy(mean.begin(), mean.end(), mean_.data());
  if (!scales_) return;
  const auto variance = weights.Get(module + ".variance", {mean_.size()});
  for (int64_t i = 0; i < mean_.size(); ++i) {
    factors_[i] = static_cast<float>(1.0 / std::sqrt(variance[i] + kVarianceFloor));
  }
}

void ObservationNorm::Run(const float* x, int64_t rows, float* y) const {
  const int64_t size = mean_.size();
  const auto most = static_cast<float>(kLargestNormed);
  for (int64_t row = 0; row < rows; ++row, x += size, y += size) {
    for (int64_t i = 0; i < size; ++i) y[i] = (x[i] - mean_[i]) * factors_[i];
    if (!scales_) continue;
    for (int64_t i = 0; i < size; ++i) y[i] = std::clamp(y[i], -most, most);
  }
}

}  // namespace lzero::packed
