// The settings of a search in the form its inner loops read: plain numbers and tables, nothing to
// parse. Built once by Search::Create; immutable afterwards.
#ifndef LZERO_MCTS_RULES_H_
#define LZERO_MCTS_RULES_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

struct SearchRules {
  SearchPolicy policy = SearchPolicy::kPuct;
  QTransform q_transform = QTransform::kTreeMinMax;
  bool rescale_values = true;
  bool use_mixed_value = true;
  float min_max_delta = 0.01f;
  float min_value = -1.0f;
  float max_value = 1.0f;
  float epsilon = 1e-8f;
  float value_scale = 0.1f;
  float maxvisit_init = 50.0f;
  int num_simulations = 0;
  int max_depth = 0;  // actions on a path
  int max_considered = 0;

  // [num_simulations + 2]: sqrt(n) * (pb_c_init + log((n + pb_c_base + 1) / pb_c_base)) for a node
  // visited n times, the factor of prior / (1 + N) in PUCT.
  std::vector<float> exploration;
  // [max_considered + 1, num_simulations]: for a number of considered actions and the number of a
  // simulation, the visits that the action chosen at a Gumbel root must have so far.
  std::vector<int32_t> considered_visits;
};

// InvalidArgument naming the setting, what was given and what is allowed.
absl::Status CheckSearchConfig(const SearchConfig& config);

// `config` must have passed CheckSearchConfig.
SearchRules MakeSearchRules(const SearchConfig& config, int num_actions);

// Sequential halving: the visits that the chosen action must have, for each of `num_simulations`,
// when `num_considered` actions compete. [Danihelka et al. 2022, Policy improvement by planning
// with Gumbel, section 3.4]
std::vector<int32_t> ConsideredVisits(int num_considered, int num_simulations);

}  // namespace lzero

#endif  // LZERO_MCTS_RULES_H_
