#include "lzero/family/alphazero/alphazero_network.h"

#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/model/losses.h"
#include "lzero/nn/support.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

absl::StatusOr<std::shared_ptr<AlphaZeroNetwork>> AlphaZeroNetwork::Create(
    const ModelConfig& config, const WorldModelShape& shape, uint64_t seed, at::Device device) {
  LZ_CHECK(shape.action_dim == 0, "box actions of ", shape.action_dim, " numbers");
  return CatchTorch([&]() -> absl::StatusOr<std::shared_ptr<AlphaZeroNetwork>> {
    torch::manual_seed(StreamKey(seed, "alphazero_weights") >> 1);
    LZ_ASSIGN_OR_RETURN(std::shared_ptr<Encoder> encoder,
                        MakeEncoder(config, shape.observation_shape));
    std::shared_ptr<AlphaZeroNetwork> network(
        new AlphaZeroNetwork(config, shape, std::move(encoder)));
    // Drawn on the CPU, so that a seed gives the same weights everywhere.
    if (!device.is_cpu()) network->to(device);
    return network;
  });
}

absl::StatusOr<int64_t> AlphaZeroNetwork::CountParameters(const ModelConfig& config,
                                                          const WorldModelShape& shape) {
  LZ_RETURN_IF_ERROR(CheckEncoder(config, shape.observation_shape));
  const int64_t head_dim = config.head_dim.value_or(4 * config.embed_dim);
  return EncoderParameters(config, shape.observation_shape) +
         Head::Size(config.embed_dim, head_dim, shape.num_actions) +
         Head::Size(config.embed_dim, head_dim, config.support_size);
}

AlphaZeroNetwork::AlphaZeroNetwork(const ModelConfig& config, const WorldModelShape& shape,
                                   std::shared_ptr<Encoder> encoder)
    : config_(config) {
  const int64_t head_dim = config.head_dim.value_or(4 * config.embed_dim);
  const auto make_head = [&](const char* name, int64_t out) {
    const auto head = std::make_shared<Head>(config.embed_dim, head_dim, out);
    head->last().InitZero();
    return register_module(name, head);
  };
  encoder_ = register_module("encoder", std::move(encoder));
  policy_head_ = make_head("policy_head", shape.num_actions);
  value_head_ = make_head("value_head", config.support_size);
  // A buffer, so that it moves with the weights; checkpoints hold parameters alone.
  atoms_ = register_buffer("atoms", SupportAtoms(config.support_size));
  KeepWeights();
}

at::Tensor AlphaZeroNetwork::Encode(const at::Tensor& observations) const {
  return NormalizeLatent(encoder_->Forward(observations), config_.latent_norm,
                         config_.sim_norm_group);
}

at::Tensor AlphaZeroNetwork::PolicyLogits(const at::Tensor& latents) const {
  return policy_head_->Forward(latents);
}

at::Tensor AlphaZeroNetwork::ValueLogits(const at::Tensor& latents) const {
  return value_head_->Forward(latents);
}

at::Tensor AlphaZeroNetwork::Decode(const at::Tensor& logits) const {
  return DecodeSupport(logits, atoms_);
}

at::Tensor AlphaZeroNetwork::ValueTargets(const BatchTensors& batch) const {
  if (!batch.bootstrap_observations.defined()) return batch.partial_returns;
  const torch::NoGradGuard no_grad;
  const at::Tensor values = Decode(ValueLogits(Encode(batch.bootstrap_observations.flatten(0, 1))));
  return batch.partial_returns + batch.bootstrap_scales * values.view_as(batch.bootstrap_scales);
}

LossTerms AlphaZeroNetwork::ComputeLosses(const Network& target, const BatchTensors& batch,
                                          const LossConfig& weights) const {
  const int64_t num_samples = batch.rewards.size(0), num_steps = batch.rewards.size(1);
  const at::Tensor observations =
      batch.observations.narrow(1, batch.num_context_steps, num_steps).flatten(0, 1);
  const at::Tensor latents = Encode(observations).view({num_samples, num_steps, -1});
  Predictions predictions;
  predictions.value_targets = dynamic_cast<const AlphaZeroNetwork&>(target).ValueTargets(batch);
  predictions.value_logits = ValueLogits(latents);
  predictions.policy_logits = PolicyLogits(latents);
  predictions.values = Decode(predictions.value_logits.detach());
  predictions.latents = latents.detach();
  // No reward and no latent is predicted: whatever stands there, it is masked everywhere.
  predictions.reward_logits = predictions.value_logits.detach();
  predictions.next_latents = at::zeros({num_samples, num_steps, 1}, predictions.latents.options());
  predictions.latent_targets = predictions.next_latents;
  BatchTensors positions = batch;
  positions.rewards = at::zeros_like(batch.rewards);
  positions.reward_mask = positions.latent_mask = positions.rewards;
  return ComputeLossTerms(predictions, positions, weights, config_);
}

}  // namespace lzero
