#include "lzero/model/losses.h"

#include <vector>

#include "lzero/model/fused_losses.h"
#include "lzero/model/policy_terms.h"
#include "lzero/nn/support.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

// How much each position counts in the mean over the valid positions of its sample: mask [..., N,
// U]
// -> [..., N, U].
at::Tensor SharesOfValid(const at::Tensor& mask) {
  return mask / at::clamp_min(mask.sum(-1, /*keepdim=*/true), 1.0);
}

// Distance between predicted and target latents [N, U, E] -> [N, U].
at::Tensor LatentDistance(const at::Tensor& predicted, const at::Tensor& target,
                          const ModelConfig& config) {
  if (config.latent_loss == LatentLoss::kCosine) {
    return 1.0 - at::cosine_similarity(predicted, target, -1, 1e-8);
  }
  if (config.latent_loss != LatentLoss::kGroupKl) return at::square(predicted - target).mean(-1);
  // Group KL of SimNorm latents: each group is a distribution. [LightZero: floor 1e-6]
  const at::Tensor log_predicted = at::log(at::clamp_min(predicted, 1e-6));
  const at::Tensor log_target = at::log(at::clamp_min(target, 1e-6));
  const double num_groups =
      static_cast<double>(predicted.size(-1)) / static_cast<double>(config.sim_norm_group);
  return (target * (log_target - log_predicted)).sum(-1) / num_groups;
}

// means [5, N] of latent, reward, value, policy and entropy as they count in the total: [N]. The
// weights are no tensor: one would have to be brought to the device.
at::Tensor WeightedSum(const at::Tensor& means, const LossConfig& weights) {
  const std::array<double, kNumLossTerms> factors = LossTermFactors(weights);
  at::Tensor sum = means[0] * factors[0];
  for (int term = 1; term < kNumLossTerms; ++term) sum = sum + means[term] * factors[term];
  return sum;
}

LossSums ComputePlainLosses(const Predictions& predictions, const BatchTensors& batch,
                            const LossConfig& weights, const ModelConfig& config) {
  const PolicyTerms policy = ComputePolicyTerms(predictions.policy_logits, batch);
  // [5, N, U]: the terms at every position, and the share of each in its sample.
  const at::Tensor losses =
      at::stack({LatentDistance(predictions.next_latents, predictions.latent_targets, config),
                 TwoHotCrossEntropy(predictions.reward_logits, batch.rewards,
                                    SupportOf(config.reward_range(), config.support_size)),
                 TwoHotCrossEntropy(predictions.value_logits, predictions.value_targets,
                                    SupportOf(config.value_range(), config.support_size)),
                 policy.losses, policy.entropies});
  const at::Tensor shares =
      SharesOfValid(at::stack({batch.latent_mask, batch.reward_mask, batch.value_mask,
                               batch.policy_mask, batch.policy_mask}));
  const at::Tensor means = (losses * shares).sum(-1);  // [5, N]

  LossSums sums;
  sums.total = (WeightedSum(means, weights) * batch.importance_weights).mean();
  const torch::NoGradGuard no_grad;
  const at::Tensor& values = predictions.values;
  sums.value_errors = MeanOverValid(at::abs(values - predictions.value_targets), batch.value_mask);
  const at::Tensor value_mean = MeanOverValid(values, batch.value_mask).mean();
  const at::Tensor latents = predictions.latents.flatten(0, 1);
  const at::Tensor centered = latents - latents.mean(0);
  const at::Tensor spread = at::sqrt(at::square(centered).mean(0)).mean();
  const at::Tensor norm = at::sqrt(at::square(latents).sum(-1)).mean();
  sums.numbers = at::cat(
      {means.detach().mean(1), at::stack({value_mean, sums.value_errors.mean(), spread, norm})});
  return sums;
}

}  // namespace

at::Tensor MeanOverValid(const at::Tensor& values, const at::Tensor& mask) {
  return (values * mask).sum(1) / at::clamp_min(mask.sum(1), 1.0);
}

at::Tensor ValueTargets(const BatchTensors& batch,
                        absl::FunctionRef<at::Tensor(const at::Tensor& observations)> value_of) {
  if (!batch.bootstrap_observations.defined()) return batch.partial_returns;
  const torch::NoGradGuard no_grad;
  const at::Tensor values = value_of(batch.bootstrap_observations.flatten(0, 1));
  return batch.partial_returns + batch.bootstrap_scales * values.view_as(batch.bootstrap_scales);
}

LossTerms ComputeLossTerms(const Predictions& predictions, const BatchTensors& batch,
                           const LossConfig& weights, const ModelConfig& config) {
  const LossSums sums = CanFuseLosses(predictions, batch, config)
                            ? ComputeFusedLosses(predictions, batch, weights, config)
                            : ComputePlainLosses(predictions, batch, weights, config);
  static constexpr const char* kNames[] = {"loss/latent", "loss/reward",    "loss/value",
                                           "loss/policy", "policy/entropy", "value/mean",
                                           "value/error", "latent/spread",  "latent/norm"};
  LossTerms terms = {
      sums.total, sums.value_errors, predictions.values.detach(), predictions.value_targets, {}};
  const std::vector<at::Tensor> numbers = sums.numbers.unbind();
  for (size_t i = 0; i < numbers.size(); ++i) terms.metrics.push_back({kNames[i], numbers[i]});
  return terms;
}

}  // namespace lzero
