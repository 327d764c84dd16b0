#include "lzero/family/unizero/unizero_losses.h"

#include "lzero/model/losses.h"
#include "lzero/nn/token_pairs.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// The transformer's outputs at the unrolled observation and action tokens.
struct SequenceOutputs {
  TokenPairs tokens;   // [N, U, E]
  at::Tensor latents;  // [N, C + U, E]
};

SequenceOutputs RunSequence(const WorldModel& model, const BatchTensors& batch) {
  const int64_t num_samples = batch.actions.size(0);
  const int64_t num_steps = batch.actions.size(1);
  const at::Tensor inputs = batch.observations.narrow(1, 0, num_steps);
  const at::Tensor latents = model.Encode(inputs.flatten(0, 1)).view({num_samples, num_steps, -1});
  const at::Tensor tokens = model.MakeTokens(latents, batch.actions);
  const at::Tensor outputs = model.transformer().Forward(tokens, batch.num_padding, nullptr);
  return {SplitTokens(outputs, batch.num_context_steps), latents};
}

at::Tensor LatentTargets(const WorldModel& target, const BatchTensors& batch) {
  const torch::NoGradGuard no_grad;
  const int64_t num_samples = batch.actions.size(0);
  const int64_t num_unroll = batch.rewards.size(1);
  const at::Tensor next =
      batch.observations.narrow(1, batch.num_context_steps + 1, num_unroll).flatten(0, 1);
  return target.Encode(next).view({num_samples, num_unroll, -1});
}

// Values [N, U] of the observations to bootstrap from, behind those before them: observations
// [N (B + U), obs].
at::Tensor ValuesInContext(const WorldModel& target, const BatchTensors& batch,
                           const at::Tensor& observations) {
  const int64_t num_samples = batch.bootstrap_actions.size(0);
  const int64_t num_steps = batch.bootstrap_actions.size(1);
  const at::Tensor latents = target.Encode(observations).view({num_samples, num_steps, -1});
  const at::Tensor tokens = target.MakeTokens(latents, batch.bootstrap_actions);
  const at::Tensor outputs = target.transformer().Forward(tokens, batch.bootstrap_padding, nullptr);
  const at::Tensor at_observations = SplitTokens(outputs, /*num_left_out=*/0).at_observations;
  const at::Tensor rows = batch.bootstrap_rows.unsqueeze(-1).expand({-1, -1, latents.size(-1)});
  return target.DecodeValues(target.ValueLogits(at_observations.gather(1, rows)));
}

}  // namespace

at::Tensor ComputeValueTargets(const WorldModel& target, const BatchTensors& batch) {
  return ValueTargets(batch, [&](const at::Tensor& observations) {
    if (batch.bootstrap_actions.defined()) return ValuesInContext(target, batch, observations);
    const at::Tensor tokens = target.Encode(observations).unsqueeze(1);
    const at::Tensor outputs = target.transformer().Forward(tokens, {}, nullptr).squeeze(1);
    return target.DecodeValues(target.ValueLogits(outputs));
  });
}

LossTerms ComputeLosses(const WorldModel& model, const WorldModel& target,
                        const BatchTensors& batch, const LossConfig& weights) {
  const at::Tensor value_targets = ComputeValueTargets(target, batch);
  const at::Tensor latent_targets = LatentTargets(target, batch);
  const SequenceOutputs outputs = RunSequence(model, batch);

  Predictions predictions;
  predictions.value_logits = model.ValueLogits(outputs.tokens.at_observations);
  predictions.policy_logits = model.PolicyLogits(outputs.tokens.at_observations);
  predictions.reward_logits = model.RewardLogits(outputs.tokens.at_actions);
  predictions.next_latents = model.NextLatent(outputs.tokens.at_actions);
  predictions.values = model.DecodeValues(predictions.value_logits.detach());
  predictions.value_targets = value_targets;
  predictions.latent_targets = latent_targets;
  predictions.latents = outputs.latents.detach();
  return ComputeLossTerms(predictions, batch, weights, model.config());
}

}  // namespace lzero
