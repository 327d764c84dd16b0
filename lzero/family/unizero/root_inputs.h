// What the network reads of a batch of roots, packed on the host and staged to the device: whole
// pasts to rebuild contexts from, or the newest step to continue them with. Buffers are allocated
// once. Floats are float32; no gradients. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_ROOT_INPUTS_H_
#define LZERO_FAMILY_UNIZERO_ROOT_INPUTS_H_

#include <cstdint>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/mcts/inference_model.h"
#include "lzero/tensor/staging.h"

namespace lzero {

struct RootInputsShape {
  int64_t max_roots = 0;
  int64_t max_past_steps = 0;
  int64_t observation_size = 0;
  int64_t action_dim = 0;  // D of box actions; 0: discrete
};

// n roots, P past steps of the longest one. Right-aligned: a root's own observation is its last.
struct RootPasts {
  at::Tensor observations;  // [n * (P + 1), obs]; zeros where a past is shorter
  // [n, P + 1] int32; box: [n, P + 1, D] float32. 0 at the root's own observation.
  at::Tensor actions;
  at::Tensor num_padding;            // [n] int64, tokens before a past begins
  std::vector<int64_t> past_tokens;  // the rest: 2 * steps + 1
};

struct RootSteps {
  at::Tensor observations;  // [n, obs] of the roots
  at::Tensor actions;       // [n] int64, that led there; box: [n, D] float32
};

class RootInputs {
 public:
  // Allocates everything; call it inside CatchTorch.
  RootInputs(const RootInputsShape& shape, at::Device device);
  // Bytes of the device's buffers.
  static int64_t Bytes(const RootInputsShape& shape);

  // Stages the roots at `rows` [n] in the shapes of RootPasts; older steps than max_past_steps are
  // left out, and there is room for `least_past` <= max_past_steps in any case. The tensors are
  // this object's: the next call overwrites them. Waits for no device: what reads them must be over
  // before the next call of this or StageNewest.
  absl::StatusOr<RootPasts> StagePasts(absl::Span<const Root> roots, absl::Span<const int> rows,
                                       int64_t least_past = 0);
  // The first `num_rows` rows of what was staged last, with room for `num_past` steps; rows that
  // were not staged hold what was there before.
  RootPasts PastRows(int64_t num_rows, int64_t num_past) const;
  RootSteps StepRows(int64_t num_rows) const;

  // Stages the newest step of the roots at `rows` [n] in the shapes of RootSteps. Every root must
  // have a past step.
  absl::StatusOr<RootSteps> StageNewest(absl::Span<const Root> roots, absl::Span<const int> rows);

 private:
  // The newest `past` actions of `root`, at step `first` of the staged ones.
  void PutActions(const Root& root, int64_t past, int64_t first);

  RootInputsShape shape_;
  Staging observations_, actions_, padding_, newest_actions_;
  // The host's side; keeps its memory between calls.
  std::vector<float> host_observations_, host_action_values_;
  std::vector<int32_t> host_actions_;
  std::vector<int64_t> host_numbers_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_ROOT_INPUTS_H_
