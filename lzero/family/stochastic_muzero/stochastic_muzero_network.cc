#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"

#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/model/losses.h"
#include "lzero/nn/action_table.h"
#include "lzero/nn/support.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::shared_ptr<StochasticMuZeroNetwork>> StochasticMuZeroNetwork::Create(
    const ModelConfig& config, const WorldModelShape& shape, uint64_t seed, at::Device device) {
  return CatchTorch([&]() -> absl::StatusOr<std::shared_ptr<StochasticMuZeroNetwork>> {
    LZ_CHECK(shape.num_chance_outcomes > 0, "no chance outcomes");
    LZ_ASSIGN_OR_RETURN(const LatentParts parts,
                        LatentParts::Create(config, shape.observation_shape));
    const WeightDeviceGuard guard(device);
    SeedWeights(StreamKey(seed, "stochastic_muzero_weights") >> 1);
    std::shared_ptr<StochasticMuZeroNetwork> network(
        new StochasticMuZeroNetwork(config, shape, parts));
    if (device.is_cuda()) network->to(device);
    return network;
  });
}

StochasticMuZeroNetwork::StochasticMuZeroNetwork(const ModelConfig& config,
                                                 const WorldModelShape& shape,
                                                 const LatentParts& parts)
    : LatentNetwork(config, shape, parts) {
  chance_table_ = register_parameter("chance_table",
                                     MakeActionTable(shape.num_chance_outcomes, /*action_dim=*/0,
                                                     parts.input_size(), kInputDeviation));
  chance_step_ = register_module("chance_step", parts.MakeStep());
  chance_head_ = register_module("chance_head", parts.MakeHead(shape.num_chance_outcomes));
  afterstate_value_head_ =
      register_module("afterstate_value_head", parts.MakeHead(config.value_bins()));
  KeepWeights();
}

at::Tensor StochasticMuZeroNetwork::LatentsAfterChance(const at::Tensor& afterstates,
                                                       const at::Tensor& outcomes) const {
  const at::Tensor inputs = EmbedActions(chance_table_, /*action_dim=*/0, outcomes);
  return NormalizeLatents(chance_step_->Forward(afterstates, inputs));
}

at::Tensor StochasticMuZeroNetwork::ComputeOpenLoopErrors(const BatchTensors& batch,
                                                          int64_t num_horizons) const {
  const at::Tensor outcomes = at::clamp_min(batch.chance_outcomes, 0).to(at::kLong);
  return OpenLoopErrorsOf(batch, num_horizons, [&](const at::Tensor& latents, int64_t k) {
    return LatentsAfterChance(Afterstates(latents, batch.actions.select(1, k)),
                              outcomes.select(1, k));
  });
}

LossTerms StochasticMuZeroNetwork::ComputeLosses(const Network& target, const BatchTensors& batch,
                                                 const LossConfig& weights) const {
  const int64_t num_samples = batch.rewards.size(0), num_unroll = batch.rewards.size(1);
  const at::Tensor is_known = batch.chance_outcomes >= 0;
  const at::Tensor outcomes = at::clamp_min(batch.chance_outcomes, 0).to(at::kLong);
  // The terms of MuZero; a step is an action, then the chance outcome that came.
  std::vector<at::Tensor> afterstates;
  const UnrollStep step = [&](const at::Tensor& latents, int64_t k) {
    afterstates.push_back(Afterstates(latents, batch.actions.select(1, k)));
    return LatentsAfterChance(afterstates.back(), outcomes.select(1, k));
  };
  at::Tensor value_targets;
  LossTerms terms = ComputeUnrolledLosses(dynamic_cast<const LatentNetwork&>(target), batch,
                                          weights, step, &value_targets);
  // The two terms of the afterstates, at every position.
  const at::Tensor rows = at::stack(afterstates, 1).flatten(0, 1);
  const at::Tensor log_chances = at::log_softmax(ChanceLogits(rows), -1);  // [N U, C]
  const at::Tensor chance =
      -log_chances.gather(1, outcomes.reshape({-1, 1})).view({num_samples, num_unroll});
  const at::Tensor value =
      TwoHotCrossEntropy(AfterstateValueLogits(rows).view({num_samples, num_unroll, -1}),
                         value_targets, SupportOf(config().value_range(), config().support_size));
  // Their means over valid positions.
  const at::Tensor mask = is_known.to(at::kFloat);
  // Past the end outcomes are drawn by nobody: nothing to foretell, but a value of 0 to learn.
  const at::Tensor drawn = mask * batch.policy_mask;
  const at::Tensor chances = MeanOverValid(chance, drawn);  // [N]
  const at::Tensor values = MeanOverValid(value, mask * batch.value_mask);
  terms.total = terms.total + ((weights.chance_weight * chances + weights.value_weight * values) *
                               batch.importance_weights)
                                  .mean();
  // Metrics.
  const torch::NoGradGuard no_grad;
  const at::Tensor entropy = -(at::exp(log_chances) * log_chances).sum(-1);
  const at::Tensor entropies = MeanOverValid(entropy.view_as(mask), drawn);
  terms.metrics.push_back({"loss/chance", chances.mean().detach()});
  terms.metrics.push_back({"loss/afterstate_value", values.mean().detach()});
  terms.metrics.push_back({"chance/entropy", entropies.mean().detach()});
  return terms;
}

}  // namespace lzero
