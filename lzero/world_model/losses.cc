#include "lzero/world_model/losses.h"

#include "lzero/nn/value_transform.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// Mean over the valid positions of each sample: values, mask [N, U] -> [N].
at::Tensor MeanOverValid(const at::Tensor& values, const at::Tensor& mask) {
  return (values * mask).sum(1) / at::clamp_min(mask.sum(1), 1.0);
}

// Distance between predicted and target latents [N, U, E] -> [N, U].
at::Tensor LatentDistance(const at::Tensor& predicted, const at::Tensor& target,
                          const ModelConfig& config) {
  if (config.latent_loss == LatentLoss::kMse) return at::square(predicted - target).mean(-1);
  // Group KL of SimNorm latents: each group is a distribution. [LightZero: floor 1e-6]
  const at::Tensor log_predicted = at::log(at::clamp_min(predicted, 1e-6));
  const at::Tensor log_target = at::log(at::clamp_min(target, 1e-6));
  const double num_groups =
      static_cast<double>(config.embed_dim) / static_cast<double>(config.sim_norm_group);
  return (target * (log_target - log_predicted)).sum(-1) / num_groups;
}

// Entropy of softmax(logits) over legal actions, [N, U, A] -> [N, U].
at::Tensor LegalEntropy(const at::Tensor& logits, const at::Tensor& illegal) {
  const at::Tensor masked = logits.masked_fill(illegal, -1e9);
  const at::Tensor log_probabilities = at::log_softmax(masked, -1);
  return -(at::exp(log_probabilities) * log_probabilities).sum(-1);
}

// The transformer's outputs at the unrolled observation and action tokens.
struct SequenceOutputs {
  at::Tensor at_observations;  // [N, U, E]
  at::Tensor at_actions;       // [N, U, E]
  at::Tensor latents;          // [N, C + U, E]
};

SequenceOutputs RunSequence(const WorldModel& model, const BatchTensors& batch) {
  const int64_t num_samples = batch.actions.size(0);
  const int64_t num_steps = batch.actions.size(1);
  const at::Tensor inputs = batch.observations.narrow(1, 0, num_steps);
  const at::Tensor latents = model.Encode(inputs.flatten(0, 1)).view({num_samples, num_steps, -1});
  const at::Tensor tokens =
      at::stack({latents, model.EmbedActions(batch.actions)}, 2).flatten(1, 2);
  const at::Tensor outputs = model.transformer().Forward(tokens, batch.num_padding, nullptr);
  const at::Tensor steps =
      outputs.unflatten(1, {num_steps, 2})
          .narrow(1, batch.num_context_steps, num_steps - batch.num_context_steps);
  return {steps.select(2, 0), steps.select(2, 1), latents};
}

at::Tensor LatentTargets(const WorldModel& target, const BatchTensors& batch) {
  const torch::NoGradGuard no_grad;
  const int64_t num_samples = batch.actions.size(0);
  const int64_t num_unroll = batch.rewards.size(1);
  const at::Tensor next =
      batch.observations.narrow(1, batch.num_context_steps + 1, num_unroll).flatten(0, 1);
  return target.Encode(next).view({num_samples, num_unroll, -1});
}

}  // namespace

at::Tensor ComputeValueTargets(const WorldModel& target, const BatchTensors& batch) {
  const torch::NoGradGuard no_grad;
  const at::Tensor tokens = target.Encode(batch.bootstrap_observations.flatten(0, 1)).unsqueeze(1);
  const at::Tensor outputs = target.transformer().Forward(tokens, {}, nullptr).squeeze(1);
  const at::Tensor values = target.Decode(target.ValueLogits(outputs));
  return batch.partial_returns + batch.bootstrap_scales * values.view_as(batch.bootstrap_scales);
}

LossTerms ComputeLosses(const WorldModel& model, const WorldModel& target,
                        const BatchTensors& batch, const LossConfig& weights) {
  const at::Tensor value_targets = ComputeValueTargets(target, batch);
  const at::Tensor latent_targets = LatentTargets(target, batch);
  const SequenceOutputs outputs = RunSequence(model, batch);

  const at::Tensor value_logits = model.ValueLogits(outputs.at_observations);
  const at::Tensor policy_logits = model.PolicyLogits(outputs.at_observations);
  const at::Tensor reward_logits = model.RewardLogits(outputs.at_actions);
  const at::Tensor next_latents = model.NextLatent(outputs.at_actions);

  const at::Tensor latent = MeanOverValid(
      LatentDistance(next_latents, latent_targets, model.config()), batch.latent_mask);
  const at::Tensor reward =
      MeanOverValid(TwoHotCrossEntropy(reward_logits, batch.rewards), batch.reward_mask);
  const at::Tensor value =
      MeanOverValid(TwoHotCrossEntropy(value_logits, value_targets), batch.value_mask);
  const at::Tensor policy = MeanOverValid(
      -(batch.policies * at::log_softmax(policy_logits, -1)).sum(-1), batch.policy_mask);
  const at::Tensor entropy =
      MeanOverValid(LegalEntropy(policy_logits, batch.illegal), batch.policy_mask);

  const at::Tensor sample_losses =
      weights.latent_weight * latent + weights.reward_weight * reward +
      weights.value_weight * value +
      weights.policy_weight * (policy - weights.entropy_weight * entropy);

  LossTerms terms;
  terms.total = (sample_losses * batch.importance_weights).mean();
  const torch::NoGradGuard no_grad;
  terms.latent = latent.detach().mean();
  terms.reward = reward.detach().mean();
  terms.value = value.detach().mean();
  terms.policy = policy.detach().mean();
  terms.entropy = entropy.detach().mean();
  const at::Tensor predicted = model.Decode(value_logits.detach());
  terms.value_errors = MeanOverValid(at::abs(predicted - value_targets), batch.value_mask);
  terms.value_mean = MeanOverValid(predicted, batch.value_mask).mean();
  const at::Tensor latents = outputs.latents.detach().flatten(0, 1);
  terms.latent_spread = latents.std(0, /*unbiased=*/false).mean();
  terms.latent_norm = latents.norm(2, -1).mean();
  return terms;
}

}  // namespace lzero
