#include "lzero/mcts/rules.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

namespace {

constexpr int64_t kMaxSimulations = 1'000'000;

absl::Status Wrong(const char* key, double given, const char* allowed) {
  return absl::InvalidArgumentError(
      absl::StrCat("search.", key, " is ", given, "; allowed: ", allowed));
}

absl::Status CheckAtLeastOne(const char* key, int64_t given, int64_t most) {
  if (given >= 1 && given <= most) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("search.", key, " is ", given, "; allowed: 1 to ", most));
}

// Comparisons are written so that a NaN is refused too.
absl::Status CheckFloats(const SearchConfig& config) {
  if (!(config.pb_c_base > 0.0)) return Wrong("pb_c_base", config.pb_c_base, "above 0");
  if (!(config.pb_c_init >= 0.0)) return Wrong("pb_c_init", config.pb_c_init, "0 or more");
  if (!(config.min_max_delta > 0.0)) return Wrong("min_max_delta", config.min_max_delta, "above 0");
  if (!(config.q_epsilon > 0.0)) return Wrong("q_epsilon", config.q_epsilon, "above 0");
  if (!(config.max_value > config.min_value)) {
    return Wrong("max_value", config.max_value,
                 absl::StrCat("above search.min_value, which is ", config.min_value).c_str());
  }
  if (!(config.root_noise_alpha > 0.0)) {
    return Wrong("root_noise_alpha", config.root_noise_alpha, "above 0");
  }
  if (!(config.root_noise_fraction >= 0.0 && config.root_noise_fraction <= 1.0)) {
    return Wrong("root_noise_fraction", config.root_noise_fraction, "0 to 1");
  }
  if (!(config.value_scale >= 0.0)) return Wrong("value_scale", config.value_scale, "0 or more");
  if (!(config.maxvisit_init >= 0.0)) {
    return Wrong("maxvisit_init", config.maxvisit_init, "0 or more");
  }
  if (!(config.gumbel_scale >= 0.0)) return Wrong("gumbel_scale", config.gumbel_scale, "0 or more");
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckSearchConfig(const SearchConfig& config) {
  LZ_RETURN_IF_ERROR(CheckAtLeastOne("num_simulations", config.num_simulations, kMaxSimulations));
  LZ_RETURN_IF_ERROR(CheckAtLeastOne("max_num_considered_actions",
                                     config.max_num_considered_actions, kMaxSimulations));
  if (config.max_depth.has_value()) {
    LZ_RETURN_IF_ERROR(CheckAtLeastOne("max_depth", *config.max_depth, kMaxSimulations));
  }
  return CheckFloats(config);
}

std::vector<int32_t> ConsideredVisits(int num_considered, int num_simulations) {
  std::vector<int32_t> sequence;
  sequence.reserve(static_cast<size_t>(num_simulations));
  if (num_considered <= 1) {
    for (int32_t visits = 0; visits < num_simulations; ++visits) sequence.push_back(visits);
    return sequence;
  }
  int rounds = 0;  // ceil(log2(num_considered))
  while ((int64_t{1} << rounds) < num_considered) ++rounds;
  int surviving = num_considered;
  int32_t visits = 0;  // that all survivors have
  while (true) {
    const int64_t share = num_simulations / (static_cast<int64_t>(rounds) * surviving);
    for (int64_t extra = 0; extra < std::max<int64_t>(1, share); ++extra, ++visits) {
      for (int i = 0; i < surviving; ++i) {
        if (static_cast<int>(sequence.size()) == num_simulations) return sequence;
        sequence.push_back(visits);
      }
    }
    surviving = std::max(2, surviving / 2);
  }
}

SearchRules MakeSearchRules(const SearchConfig& config, int num_actions) {
  SearchRules rules;
  rules.policy = config.policy;
  rules.q_transform = config.q_transform;
  rules.rescale_values = config.rescale_values;
  rules.use_mixed_value = config.use_mixed_value;
  rules.min_max_delta = static_cast<float>(config.min_max_delta);
  rules.min_value = static_cast<float>(config.min_value);
  rules.max_value = static_cast<float>(config.max_value);
  rules.epsilon = static_cast<float>(config.q_epsilon);
  rules.value_scale = static_cast<float>(config.value_scale);
  rules.maxvisit_init = static_cast<float>(config.maxvisit_init);
  rules.num_simulations = static_cast<int>(config.num_simulations);
  rules.max_depth = static_cast<int>(config.max_depth.value_or(config.num_simulations));
  rules.max_considered =
      static_cast<int>(std::min<int64_t>(config.max_num_considered_actions, num_actions));
  rules.root_noise_fraction = config.root_noise_fraction;
  rules.exploration.resize(static_cast<size_t>(config.num_simulations) + 2);
  for (size_t n = 0; n < rules.exploration.size(); ++n) {
    const double visits = static_cast<double>(n);
    rules.exploration[n] = static_cast<float>(
        std::sqrt(visits) *
        (config.pb_c_init + std::log((visits + config.pb_c_base + 1.0) / config.pb_c_base)));
  }
  if (config.policy == SearchPolicy::kGumbel) {
    for (int considered = 0; considered <= rules.max_considered; ++considered) {
      const auto visits = ConsideredVisits(considered, rules.num_simulations);
      rules.considered_visits.insert(rules.considered_visits.end(), visits.begin(), visits.end());
    }
  }
  return rules;
}

}  // namespace lzero
