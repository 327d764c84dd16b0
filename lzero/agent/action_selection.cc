#include "lzero/agent/action_selection.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/check.h"

namespace lzero {

double TemperatureAt(const SearchConfig& config, int64_t env_steps) {
  const int64_t decay = config.temperature_decay_env_steps;
  if (decay <= 0) return config.temperature;
  const double share =
      std::clamp(static_cast<double>(env_steps) / static_cast<double>(decay), 0.0, 1.0);
  if (config.temperature_schedule == TemperatureSchedule::kHalves) {
    return config.temperature * (share < 0.5 ? 1.0 : share < 0.75 ? 0.5 : 0.25);
  }
  return config.temperature + share * (config.temperature_final - config.temperature);
}

int DrawAction(absl::Span<const int32_t> visit_counts, double temperature, RandomStream* stream,
               absl::Span<double> weights) {
  LZ_CHECK(temperature > 0.0, "temperature ", temperature);
  LZ_CHECK(weights.size() == visit_counts.size(), weights.size(), " for ", visit_counts.size());
  const int32_t most = *std::max_element(visit_counts.begin(), visit_counts.end());
  LZ_CHECK(most > 0, "no action was visited");
  for (size_t a = 0; a < visit_counts.size(); ++a) {
    // Relative to the largest count: a small temperature then underflows to 0 and not to infinity.
    const double share = static_cast<double>(visit_counts[a]) / most;
    weights[a] = visit_counts[a] > 0 ? std::exp(std::log(share) / temperature) : 0.0;
  }
  return stream->Categorical(weights);
}

}  // namespace lzero
