#include "lzero/family/unizero/runners/eager_step.h"

#include "lzero/tensor/shape_check.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

TwoTokenOutputs RunTwoTokens(const WorldModel& model, const at::Tensor& contexts,
                             const at::Tensor& lengths, const at::Tensor& actions,
                             const at::Tensor& latents) {
  const Transformer& transformer = model.transformer();
  const int64_t kept = transformer.context_length() - 1;
  at::Tensor action_keys, latent_keys;
  TwoTokenOutputs outputs;
  outputs.at_action = transformer.Step(model.EmbedActions(actions), contexts,
                                       transformer.StepMask(lengths), &action_keys);
  const at::Tensor latent = latents.defined() ? latents : model.NextLatent(outputs.at_action);
  // The window slides by one: the oldest context token leaves, the action token enters.
  const at::Tensor slid = at::cat({contexts, action_keys.unsqueeze(1)}, 1).narrow(1, 1, kept);
  outputs.at_observation = transformer.Step(
      latent, slid, transformer.StepMask(at::clamp_max(lengths + 1, kept)), &latent_keys);
  outputs.tokens = at::stack({action_keys, latent_keys}, 1);
  return outputs;
}

EagerStep::EagerStep(const WorldModel& model, int64_t max_batch)
    : BufferedStep(MakeStepBuffers(model, max_batch)), model_(model) {}

absl::Status EagerStep::Run(int64_t batch_size) {
  const at::Device device = model_.device();
  LZ_CHECK_DEVICE(buffers_.contexts.tokens, device, "contexts.tokens of a step");
  LZ_CHECK_DEVICE(buffers_.contexts.lengths, device, "contexts.lengths of a step");
  LZ_CHECK_DEVICE(buffers_.actions, device, "actions of a step");
  return CatchTorch([&] {
    const c10::InferenceMode inference;
    const auto rows = [batch_size](const at::Tensor& buffer) {
      return buffer.narrow(0, 0, batch_size);
    };
    const TwoTokenOutputs outputs =
        RunTwoTokens(model_, rows(buffers_.contexts.tokens), rows(buffers_.contexts.lengths),
                     rows(buffers_.actions), {});
    rows(buffers_.rewards).copy_(model_.DecodeRewards(model_.RewardLogits(outputs.at_action)));
    rows(buffers_.values).copy_(model_.DecodeValues(model_.ValueLogits(outputs.at_observation)));
    rows(buffers_.prior_logits).copy_(model_.PolicyLogits(outputs.at_observation));
    rows(buffers_.tokens).copy_(outputs.tokens);
  });
}

}  // namespace lzero
