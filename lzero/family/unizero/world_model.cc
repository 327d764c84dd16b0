#include "lzero/family/unizero/world_model.h"

#include <algorithm>
#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/imagine_sequence.h"
#include "lzero/family/unizero/unizero_losses.h"
#include "lzero/nn/action_table.h"
#include "lzero/nn/token_pairs.h"
#include "lzero/nn/weight_device.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// Standard deviation of the last linear layer of the next-latent head: small, but not zero, so that
// different nodes of a fresh model never start identical.
constexpr double kSmallInit = 0.02;

}  // namespace

absl::StatusOr<std::shared_ptr<WorldModel>> WorldModel::Create(const ModelConfig& config,
                                                               const WorldModelShape& shape,
                                                               uint64_t seed, at::Device device) {
  return CatchTorch([&]() -> absl::StatusOr<std::shared_ptr<WorldModel>> {
    const WeightDeviceGuard guard(device);
    SeedWeights(StreamKey(seed, "world_model_weights") >> 1);
    LZ_ASSIGN_OR_RETURN(std::shared_ptr<Encoder> encoder,
                        MakeEncoder(config, shape.observation_shape));
    std::shared_ptr<WorldModel> model(new WorldModel(config, shape, std::move(encoder)));
    // Drawn on the CPU, so that a seed gives the same weights everywhere; before any graph is
    // captured.
    if (device.is_cuda()) model->to(device);
    return model;
  });
}

WorldModel::WorldModel(const ModelConfig& config, const WorldModelShape& shape,
                       std::shared_ptr<Encoder> encoder)
    : Network(config, shape) {
  const int64_t embed_dim = config.embed_dim;
  const auto make_head = [&](const char* name, int64_t out) {
    return register_module(name, std::make_shared<Head>(embed_dim, head_dim(), out));
  };
  RegisterEncoder(std::move(encoder));
  action_embedding_ = register_parameter(
      "action_embedding",
      MakeActionTable(shape.num_actions, shape.action_dim, embed_dim, kTokenDeviation));
  transformer_ = register_module("transformer", std::make_shared<Transformer>(config));
  policy_head_ = make_head("policy_head", shape.policy_size());
  value_head_ = make_head("value_head", config.value_bins());
  reward_head_ = make_head("reward_head", config.reward_bins());
  latent_head_ = make_head("latent_head", embed_dim);
  policy_head_->last().InitZero();
  value_head_->last().InitZero();
  reward_head_->last().InitZero();
  latent_head_->last().InitNormal(kSmallInit);
  KeepWeights();
}

at::Tensor WorldModel::Encode(const at::Tensor& observations) const {
  return NormalizeLatents(encoder().Forward(observations));
}

at::Tensor WorldModel::EmbedActions(const at::Tensor& actions) const {
  return lzero::EmbedActions(action_embedding_, shape().action_dim, actions);
}

at::Tensor WorldModel::MakeTokens(const at::Tensor& latents, const at::Tensor& actions) const {
  if (shape().action_dim == 0) return PairTokens(latents, action_embedding_, actions);
  return at::stack({latents, EmbedActions(actions)}, 2).flatten(1, 2);
}

LossTerms WorldModel::ComputeLosses(const Network& target, const BatchTensors& batch,
                                    const LossConfig& weights) const {
  return lzero::ComputeLosses(*this, dynamic_cast<const WorldModel&>(target), batch, weights);
}

at::Tensor WorldModel::ComputeOpenLoopErrors(const BatchTensors& batch,
                                             int64_t num_horizons) const {
  const int64_t horizons = std::min(num_horizons, batch.rewards.size(1));
  return OpenLoopErrors(ImagineSequence(*this, batch, horizons), batch);
}

}  // namespace lzero
