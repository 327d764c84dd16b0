// The recurrent step in plain libtorch operations on any device: the oracle for other runners. It
// may allocate temporaries; its buffers stay where they are. Shapes as in StepBuffers, float32
// unless said. Belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_STEP_H_
#define LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_STEP_H_

#include <string>

#include "ATen/core/Tensor.h"
#include "lzero/family/unizero/runners/recurrent_step.h"

namespace lzero {

class EagerStep : public BufferedStep {
 public:
  // `model` must outlive the step.
  EagerStep(const WorldModel& model, int64_t max_batch);
  std::string name() const override { return "eager"; }
  absl::Status Run(int64_t batch_size) override;
  void OnWeightsChanged() override {}  // reads the weights where they are

 private:
  const WorldModel& model_;
};

// What RunTwoTokens computes.
struct TwoTokenOutputs {
  at::Tensor at_action;       // [B, E] transformer output
  at::Tensor at_observation;  // [B, E]
  at::Tensor tokens;          // [B, 2, L, 2, E] keys and values of both
};
// Two tokens on a context: the action token, then an observation token. contexts [B, W - 1, L, 2,
// E], lengths [B] int64, actions [B] int64 (box: [B, D] float32). `latents` [B, E], or undefined:
// the next latent predicted at the action token. Gradients flow, outside of inference mode.
TwoTokenOutputs RunTwoTokens(const WorldModel& model, const at::Tensor& contexts,
                             const at::Tensor& lengths, const at::Tensor& actions,
                             const at::Tensor& latents);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_RUNNERS_EAGER_STEP_H_
