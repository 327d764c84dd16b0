// Whether a search can go on with what the model returned: numbers are finite, and a prior logit
// may be -infinity where a node lacks the action, but not everywhere. Costs as little as a sum
// where every number is finite. Pure functions of the host; the device's are in device_steps.h.
#ifndef LZERO_MCTS_OUTPUT_CHECK_H_
#define LZERO_MCTS_OUTPUT_CHECK_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/mcts/tree/simulate.h"

namespace lzero {

// How many entries of a row of W prior logits a node has.
struct RowEntries {
  int num_actions;          // of a decision
  int num_chance_outcomes;  // of a chance node; 0: there are none
};

// What the model said about one node of each root.
struct ModelOutputs {
  absl::Span<const float> rewards;       // [B]
  absl::Span<const float> discounts;     // [B]
  absl::Span<const float> values;        // [B]
  absl::Span<const float> prior_logits;  // [B, W]
};

// Checks the outputs at the roots; rewards and discounts are not read. `legal` [B, W]: where it is
// 1 the logit must be finite, elsewhere it may be -infinity. Internal naming environment, node and
// number.
absl::Status CheckRootOutputs(absl::Span<const Root> roots, absl::Span<const uint8_t> legal,
                              const ModelOutputs& outputs);

// Checks node number `node` of each root, which the step behind `leaves` [B] led to. Internal
// naming environment, node and number, also where all logits of a node are -infinity, and where
// logits behind the entries of a decision or chance node are not.
absl::Status CheckStepOutputs(absl::Span<const Root> roots, int node, absl::Span<const Leaf> leaves,
                              const RowEntries& entries, const ModelOutputs& outputs);

}  // namespace lzero

#endif  // LZERO_MCTS_OUTPUT_CHECK_H_
