#include "lzero/family/alphazero/alphazero_network.h"

#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/model/losses.h"
#include "lzero/nn/latent_parts.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::shared_ptr<AlphaZeroNetwork>> AlphaZeroNetwork::Create(
    const ModelConfig& config, const WorldModelShape& shape, uint64_t seed, at::Device device) {
  LZ_CHECK(shape.action_dim == 0, "box actions of ", shape.action_dim, " numbers");
  return CatchTorch([&]() -> absl::StatusOr<std::shared_ptr<AlphaZeroNetwork>> {
    const WeightDeviceGuard guard(device);
    SeedWeights(StreamKey(seed, "alphazero_weights") >> 1);
    LZ_RETURN_IF_ERROR(CheckEncoder(config, shape.observation_shape));
    std::shared_ptr<AlphaZeroNetwork> network(new AlphaZeroNetwork(config, shape));
    // Drawn on the CPU, so that a seed gives the same weights everywhere.
    if (device.is_cuda()) network->to(device);
    return network;
  });
}

AlphaZeroNetwork::AlphaZeroNetwork(const ModelConfig& config, const WorldModelShape& shape)
    : Network(config, shape) {
  const auto make_head = [&](const char* name, int64_t out) {
    const auto head = std::make_shared<Head>(config.embed_dim, head_dim(), out);
    head->last().InitZero();
    return register_module(name, head);
  };
  if (config.policy_cells) {
    const LatentParts parts = LatentParts::Create(config, shape.observation_shape).value();
    RegisterEncoder(parts.MakeLatentEncoder());
    policy_head_ = register_module("policy_head", parts.MakePolicyHead(shape));
    value_head_ = register_module("value_head", parts.MakeHead(config.value_bins()));
  } else {
    RegisterEncoder(MakeEncoder(config, shape.observation_shape).value());
    policy_head_ = make_head("policy_head", shape.num_actions);
    value_head_ = make_head("value_head", config.value_bins());
  }
  KeepWeights();
}

at::Tensor AlphaZeroNetwork::Encode(const at::Tensor& observations) const {
  return NormalizeLatents(encoder().Forward(observations));
}

LossTerms AlphaZeroNetwork::ComputeLosses(const Network& target, const BatchTensors& batch,
                                          const LossConfig& weights) const {
  const int64_t num_samples = batch.rewards.size(0), num_steps = batch.rewards.size(1);
  const at::Tensor observations =
      batch.observations.narrow(1, batch.num_context_steps, num_steps).flatten(0, 1);
  const at::Tensor latents = Encode(observations);
  const auto by_step = [&](const at::Tensor& rows) {
    return rows.view({num_samples, num_steps, -1});
  };
  Predictions predictions;
  const auto& target_network = dynamic_cast<const AlphaZeroNetwork&>(target);
  predictions.value_targets = ValueTargets(batch, [&](const at::Tensor& bootstraps) {
    return target_network.DecodeValues(
        target_network.ValueLogits(target_network.Encode(bootstraps)));
  });
  predictions.value_logits = by_step(ValueLogits(latents));
  predictions.policy_logits = by_step(PolicyLogits(latents));
  predictions.values = DecodeValues(predictions.value_logits.detach());
  predictions.latents = by_step(latents.detach());
  // No reward and no latent is predicted: whatever stands there, it is masked everywhere.
  predictions.reward_logits =
      at::zeros({num_samples, num_steps, config().reward_bins()}, predictions.latents.options());
  predictions.next_latents = predictions.latent_targets = predictions.reward_logits;
  BatchTensors positions = batch;
  positions.rewards = at::zeros_like(batch.rewards);
  positions.reward_mask = positions.latent_mask = positions.rewards;
  return ComputeLossTerms(predictions, positions, weights, config());
}

}  // namespace lzero
