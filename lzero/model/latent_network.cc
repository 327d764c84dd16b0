#include "lzero/model/latent_network.h"

#include <algorithm>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/model/losses.h"
#include "lzero/model/open_loop.h"
#include "lzero/nn/action_table.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

bool Projects(const ModelConfig& config) { return config.latent_loss == LatentLoss::kCosine; }

}  // namespace

LatentNetwork::LatentNetwork(const ModelConfig& config, const WorldModelShape& shape,
                             const LatentParts& parts)
    : Network(config, shape), latent_size_(parts.latent_size()) {
  RegisterEncoder(parts.MakeLatentEncoder());
  action_table_ =
      register_parameter("action_table", parts.MakeInputTable(shape.num_actions, shape.action_dim));
  dynamics_ = register_module("dynamics", parts.MakeStep());
  reward_head_ = register_module("reward_head", parts.MakeHead(config.reward_bins()));
  policy_head_ = register_module("policy_head", parts.MakePolicyHead(shape));
  value_head_ = register_module("value_head", parts.MakeHead(config.value_bins()));
  if (Projects(config)) {
    const int64_t width = head_dim();
    projector_ = register_module("projector", std::make_shared<LinearLayer>(latent_size_, width));
    if (config.projector_layers > 1) {
      projector_tail_ = register_module(
          "projector_tail", std::make_shared<ProjectorTail>(width, config.projector_layers - 1,
                                                            config.projector_norm));
    }
    predictor_ = register_module("predictor", std::make_shared<Head>(width, width, width));
  }
  KeepWeights();
}

at::Tensor LatentNetwork::Represent(const at::Tensor& observations) const {
  return NormalizeLatents(encoder().Forward(observations));
}

at::Tensor LatentNetwork::NextLatents(const at::Tensor& latents, const at::Tensor& actions) const {
  const at::Tensor inputs = EmbedActions(action_table_, shape().action_dim, actions);
  return NormalizeLatents(dynamics_->Forward(latents, inputs));
}

at::Tensor LatentNetwork::HalveGradient(const at::Tensor& x) { return x * 0.5 + x.detach() * 0.5; }

LossTerms LatentNetwork::ComputeUnrolledLosses(const LatentNetwork& target,
                                               const BatchTensors& batch, const LossConfig& weights,
                                               const UnrollStep& step,
                                               at::Tensor* value_targets) const {
  const int64_t num_samples = batch.rewards.size(0), num_unroll = batch.rewards.size(1);
  Predictions predictions;
  predictions.value_targets = ValueTargets(batch, [&](const at::Tensor& observations) {
    return target.DecodeValues(target.ValueLogits(target.Represent(observations)));
  });
  if (value_targets != nullptr) *value_targets = predictions.value_targets;
  // The latents, step by step; then every head reads all of them at once. Only what goes on to the
  // next step has its gradient halved (MuZero, appendix G).
  std::vector<at::Tensor> states = {Represent(batch.observations.select(1, 0))}, nexts;
  for (int64_t k = 0; k < num_unroll; ++k) {
    nexts.push_back(step(k == 0 ? states.back() : HalveGradient(states.back()), k));
    states.push_back(nexts.back());
  }
  states.pop_back();
  const at::Tensor latents = at::stack(states, 1).flatten(0, 1);
  const at::Tensor next_latents = at::stack(nexts, 1);
  const auto by_step = [&](const at::Tensor& rows) {
    return rows.view({num_samples, num_unroll, -1});
  };
  // The heads.
  predictions.value_logits = by_step(ValueLogits(latents));
  predictions.policy_logits = by_step(PolicyLogits(latents));
  predictions.reward_logits = by_step(RewardLogits(next_latents.flatten(0, 1)));
  predictions.values = DecodeValues(predictions.value_logits.detach());
  predictions.latents = by_step(latents.detach());
  AddLatentTerms(target, batch, next_latents, &predictions);
  return ComputeLossTerms(predictions, batch, weights, config());
}

at::Tensor LatentNetwork::OpenLoopErrorsOf(const BatchTensors& batch, int64_t num_horizons,
                                           const UnrollStep& step) const {
  const torch::NoGradGuard no_grad;
  const int64_t num_samples = batch.rewards.size(0);
  const int64_t horizons = std::min(num_horizons, batch.rewards.size(1));
  const auto value_of = [&](const at::Tensor& latents) {
    return DecodeValues(ValueLogits(latents));
  };
  std::vector<at::Tensor> rewards, values, imagined;
  at::Tensor latents = Represent(batch.observations.select(1, 0));
  for (int64_t k = 0; k < horizons; ++k) {
    latents = step(latents, k);
    rewards.push_back(DecodeRewards(RewardLogits(latents)));
    values.push_back(value_of(latents));
    imagined.push_back(latents);
  }
  const at::Tensor real = Represent(batch.observations.narrow(1, 1, horizons).flatten(0, 1));
  return OpenLoopErrors({at::stack(rewards, 1), batch.rewards.narrow(1, 0, horizons),
                         at::stack(values, 1), value_of(real).view({num_samples, horizons}),
                         at::stack(imagined, 1), real.view({num_samples, horizons, -1})},
                        batch);
}

at::Tensor LatentNetwork::Project(const at::Tensor& latents) const {
  const at::Tensor first = projector_->Forward(latents);
  return projector_tail_ != nullptr ? projector_tail_->Forward(first) : first;
}

void LatentNetwork::AddLatentTerms(const LatentNetwork& target, const BatchTensors& batch,
                                   const at::Tensor& next_latents, Predictions* predictions) const {
  const int64_t num_samples = next_latents.size(0), num_unroll = next_latents.size(1);
  if (config().latent_loss == LatentLoss::kNone) {
    // No distance, whatever its weight.
    predictions->next_latents = at::zeros({num_samples, num_unroll, 1}, next_latents.options());
    predictions->latent_targets = predictions->next_latents;
    return;
  }
  const at::Tensor observations = batch.observations.narrow(1, 1, num_unroll).flatten(0, 1);
  if (!Projects(config())) {
    const torch::NoGradGuard no_grad;
    predictions->latent_targets =
        target.Represent(observations).view({num_samples, num_unroll, -1});
    predictions->next_latents = next_latents;
    return;
  }
  // EfficientZero: no target network, the gradient is stopped on the side of the observation.
  {
    const torch::NoGradGuard no_grad;
    predictions->latent_targets =
        Project(Represent(observations)).view({num_samples, num_unroll, -1});
  }
  predictions->next_latents = predictor_->Forward(Project(next_latents));
}

}  // namespace lzero
