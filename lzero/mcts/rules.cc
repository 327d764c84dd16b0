#include "lzero/mcts/rules.h"

#include <algorithm>
#include <cmath>

#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/config/schema.h"

namespace lzero {

absl::Status CheckSearchConfig(const SearchConfig& config) {
  LZ_RETURN_IF_ERROR(CheckRanges(config));
  return FirstError(ValueBoundErrors(config));
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

SearchRules::SearchRules(const SearchConfig& config, int num_actions, bool has_chance)
    : config_(config) {
  view_.policy = config.policy;
  view_.q_transform = config.q_transform;
  view_.rescale_values = config.rescale_values;
  view_.use_mixed_value = config.use_mixed_value;
  view_.has_chance = has_chance;
  view_.min_max_delta = static_cast<float>(config.min_max_delta);
  view_.min_value = static_cast<float>(config.min_value);
  view_.max_value = static_cast<float>(config.max_value);
  view_.epsilon = static_cast<float>(config.q_epsilon);
  view_.value_scale = static_cast<float>(config.value_scale);
  view_.maxvisit_init = static_cast<float>(config.maxvisit_init);
  view_.num_simulations = static_cast<int>(config.num_simulations);
  view_.max_depth = static_cast<int>(config.max_depth.value_or(config.num_simulations));
  view_.max_considered =
      static_cast<int>(std::min<int64_t>(config.max_num_considered_actions, num_actions));
  view_.root_noise_fraction = config.root_noise_fraction;
  view_.root_policy_temperature = static_cast<float>(config.root_policy_temperature);
  view_.forced_playouts = static_cast<float>(config.forced_playouts);
  exploration_.resize(static_cast<size_t>(config.NodesPerRoot()) + 1);
  for (size_t n = 0; n < exploration_.size(); ++n) {
    const double visits = static_cast<double>(n);
    exploration_[n] = static_cast<float>(
        std::sqrt(visits) *
        (config.pb_c_init + std::log((visits + config.pb_c_base + 1.0) / config.pb_c_base)));
  }
  if (config.policy == SearchPolicy::kGumbel) {
    for (int considered = 0; considered <= view_.max_considered; ++considered) {
      const auto visits = ConsideredVisits(considered, view_.num_simulations);
      considered_visits_.insert(considered_visits_.end(), visits.begin(), visits.end());
    }
  }
  view_.exploration = exploration_.data();
  view_.considered_visits = considered_visits_.data();
}

}  // namespace lzero
