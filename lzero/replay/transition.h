// One transition as a collector saw it: what replay takes in. Floats are float32. Plain data, no
// thread rule.
#ifndef LZERO_REPLAY_TRANSITION_H_
#define LZERO_REPLAY_TRANSITION_H_

#include <cstdint>

#include "absl/types/span.h"

namespace lzero {

// A view: the spans belong to the caller and are copied by whoever takes the transition.
struct Transition {
  int32_t action = 0;
  float reward = 0.0f;  // from the view of the player who moved
  // [A] search distribution at the observation before the step; box: [K]
  absl::Span<const float> policy = {};
  float root_value = 0.0f;                   // of that search, from the view of the player to move
  absl::Span<const float> observation = {};  // [obs] after the step
  absl::Span<const uint8_t> legal_action_mask = {};  // [A] after the step, 1 = legal; box: empty
  int to_play = 0;                                   // after the step
  bool terminated = false;                           // wins where both flags are set
  bool truncated = false;
  int32_t chance_outcome = -1;  // that the step drew, where the environment tells; -1: none
  absl::Span<const float> action_values = {};    // box: [D], each in [-1, 1]
  absl::Span<const float> sampled_actions = {};  // box: [K, D] of the search, see `policy`
  float network_value = 0.0f;  // that the search began with, from the view of root_value
};

}  // namespace lzero

#endif  // LZERO_REPLAY_TRANSITION_H_
