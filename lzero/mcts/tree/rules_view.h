// The settings of a search as its inner loops read them, on the host and on a CUDA device: plain
// numbers and pointers to tables, nothing to parse. Made by rules.h, which owns the tables of the
// host. Immutable.
#ifndef LZERO_MCTS_TREE_RULES_VIEW_H_
#define LZERO_MCTS_TREE_RULES_VIEW_H_

#include <cstdint>

#include "lzero/config/experiment_config.h"

namespace lzero {

struct RulesView {
  SearchPolicy policy = SearchPolicy::kPuct;
  QTransform q_transform = QTransform::kTreeMinMax;
  bool rescale_values = true;
  bool use_mixed_value = true;
  bool has_chance = false;  // every second level of the tree is chance nodes
  float min_max_delta = 0.01f;
  float min_value = -1.0f;
  float max_value = 1.0f;
  float epsilon = 1e-8f;
  float value_scale = 0.1f;
  float maxvisit_init = 50.0f;
  int32_t num_simulations = 0;
  int32_t max_depth = 0;  // actions on a path
  int32_t max_considered = 0;
  double root_noise_fraction = 0.25;
  float root_policy_temperature = 1.0f;
  float forced_playouts = 0.0f;  // 0: none
  // [num_simulations + 2]: sqrt(n) * (pb_c_init + log((n + pb_c_base + 1) / pb_c_base)) for a node
  // visited n times, the factor of prior / (1 + N) in PUCT.
  const float* exploration = nullptr;
  // [max_considered + 1, num_simulations]: for a number of considered actions and the number of a
  // simulation, the visits that the action chosen at a Gumbel root must have so far.
  const int32_t* considered_visits = nullptr;
};

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_RULES_VIEW_H_
