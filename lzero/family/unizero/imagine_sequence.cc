#include "lzero/family/unizero/imagine_sequence.h"

#include <vector>

#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// Tokens [N, T, E] -> the output at the last of them [N, E].
at::Tensor LastOutput(const WorldModel& model, const std::vector<at::Tensor>& tokens,
                      const at::Tensor& num_padding) {
  return model.transformer().Forward(at::cat(tokens, 1), num_padding, nullptr).select(1, -1);
}

}  // namespace

Imagined ImagineSequence(const WorldModel& model, const BatchTensors& batch, int64_t num_horizons) {
  const torch::NoGradGuard no_grad;
  const int64_t num_samples = batch.rewards.size(0), context = batch.num_context_steps;
  const int64_t num_real = context + num_horizons + 1;
  // What really happened, in one pass: outputs at the observations after 1 .. H steps.
  const at::Tensor observations = batch.observations.narrow(1, 0, num_real);
  const at::Tensor latents =
      model.Encode(observations.flatten(0, 1)).view({num_samples, num_real, -1});
  const at::Tensor steps = model.MakeTokens(latents.narrow(1, 0, num_real - 1),
                                            batch.actions.narrow(1, 0, num_real - 1));
  const at::Tensor all = at::cat({steps, latents.narrow(1, num_real - 1, 1)}, 1);
  const at::Tensor outputs = model.transformer().Forward(all, batch.num_padding, nullptr);
  std::vector<at::Tensor> rewards, values, imagined, real_values;
  // The context, the first observation, and from there on imagination.
  std::vector<at::Tensor> tokens = {all.narrow(1, 0, 2 * context + 1)};
  for (int64_t k = 0; k < num_horizons; ++k) {
    // One step: the real action in, reward and next latent out.
    tokens.push_back(model.EmbedActions(batch.actions.select(1, context + k)).unsqueeze(1));
    const at::Tensor at_action = LastOutput(model, tokens, batch.num_padding);
    rewards.push_back(model.DecodeRewards(model.RewardLogits(at_action)));
    imagined.push_back(model.NextLatent(at_action));
    tokens.push_back(imagined.back().unsqueeze(1));
    values.push_back(
        model.DecodeValues(model.ValueLogits(LastOutput(model, tokens, batch.num_padding))));
    // The value of the real state, to compare with.
    const at::Tensor at_real = outputs.select(1, 2 * (context + k + 1));
    real_values.push_back(model.DecodeValues(model.ValueLogits(at_real)));
  }
  return {at::stack(rewards, 1),  batch.rewards.narrow(1, 0, num_horizons),
          at::stack(values, 1),   at::stack(real_values, 1),
          at::stack(imagined, 1), latents.narrow(1, context + 1, num_horizons)};
}

}  // namespace lzero
