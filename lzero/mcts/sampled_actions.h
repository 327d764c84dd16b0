// The actions that stand behind the slots of the roots, for models whose num_actions() are slots
// that stand for actions drawn anew at every node [Hubert et al. 2021, Sampled MuZero]. Plain data,
// made by the model and read by search and agent. The model alone knows how actions are drawn.
#ifndef LZERO_MCTS_SAMPLED_ACTIONS_H_
#define LZERO_MCTS_SAMPLED_ACTIONS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"

namespace lzero {

struct Root;

// What was drawn at the roots of the last InitialInference, in their order.
struct SampledActions {
  int num_slots = 0;               // K
  int action_dim = 0;              // D; 0: slots are discrete actions
  std::vector<uint8_t> slot_mask;  // [B, K], 1 = the slot holds an action
  std::vector<int32_t> indices;    // [B, K] of the environment's actions, D = 0
  std::vector<float> values;       // [B, K, D] in [-1, 1], D > 0
};

// Internal (naming the environment where there is one) for arrays of other sizes than `roots` and
// `num_slots` ask for, for a filled slot without a valid action, and for a root without a filled
// slot.
absl::Status CheckSampledActions(const SampledActions& sampled, absl::Span<const Root> roots,
                                 int num_slots);

}  // namespace lzero

#endif  // LZERO_MCTS_SAMPLED_ACTIONS_H_
