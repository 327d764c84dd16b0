// The UniZero world model [UniZero, arXiv 2406.10667]: encoder, action embedding, transformer and
// four heads, put together from lzero/nn. Weights and pure forward functions only: no cache, no
// search; its losses are in unizero_losses.h. All tensors float32 on the model's device unless
// said; gradients flow to inputs and weights unless said. Const methods may run on any thread while
// nobody writes the weights.
#ifndef LZERO_FAMILY_UNIZERO_WORLD_MODEL_H_
#define LZERO_FAMILY_UNIZERO_WORLD_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/network.h"
#include "lzero/nn/encoder.h"
#include "lzero/nn/layers.h"
#include "lzero/nn/transformer.h"

namespace lzero {

class WorldModel : public Network {
 public:
  // Fresh weights, a function of `seed` alone, on `device`. InvalidArgument when the encoder does
  // not fit the observations; ResourceExhausted when the memory is not there. On device meta it has
  // sizes alone and allocates nothing: for num_parameters.
  static absl::StatusOr<std::shared_ptr<WorldModel>> Create(const ModelConfig& config,
                                                            const WorldModelShape& shape,
                                                            uint64_t seed,
                                                            at::Device device = at::kCPU);
  // observations [N, observation size] -> latents [N, E], final norm applied.
  at::Tensor Encode(const at::Tensor& observations) const;
  // actions [...] int64 or int32 -> tokens [..., E]; box: actions [..., D] float32 -> [..., E].
  at::Tensor EmbedActions(const at::Tensor& actions) const;
  // latents [N, T, E], actions [N, T] int32 or int64 (box: [N, T, D] float32) -> tokens [N, 2 T,
  // E], each action behind its latent.
  at::Tensor MakeTokens(const at::Tensor& latents, const at::Tensor& actions) const;

  // Heads. y [..., E] is the transformer's output at an observation token (policy, value) or at an
  // action token (reward, next latent).
  // [..., policy size], [..., S], [..., S], and [..., E] with the final norm applied.
  at::Tensor PolicyLogits(const at::Tensor& y) const { return policy_head_->Forward(y); }
  at::Tensor ValueLogits(const at::Tensor& y) const { return value_head_->Forward(y); }
  at::Tensor RewardLogits(const at::Tensor& y) const { return reward_head_->Forward(y); }
  at::Tensor NextLatent(const at::Tensor& y) const {
    return NormalizeLatents(latent_head_->Forward(y));
  }

  const Transformer& transformer() const { return *transformer_; }

  // See unizero_losses.h; gradients flow through the total alone.
  LossTerms ComputeLosses(const Network& target, const BatchTensors& batch,
                          const LossConfig& weights) const override;
  // [3, H], see Network; no gradient.
  at::Tensor ComputeOpenLoopErrors(const BatchTensors& batch, int64_t num_horizons) const override;

 private:
  WorldModel(const ModelConfig& config, const WorldModelShape& shape,
             std::shared_ptr<Encoder> encoder);

  at::Tensor action_embedding_;  // [A, E]; box: [D + 1, E], a linear map and, last, its bias
  std::shared_ptr<Transformer> transformer_;
  std::shared_ptr<Head> policy_head_, value_head_, reward_head_, latent_head_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_WORLD_MODEL_H_
