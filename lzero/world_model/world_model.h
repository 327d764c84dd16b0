// The UniZero world model [UniZero, arXiv 2406.10667]: encoder, action embedding, transformer and
// four heads, put together from lzero/nn. Weights and pure forward functions only: no cache, no
// search, no losses (losses.h). Const methods may run on any thread while nobody writes the
// weights.
#ifndef LZERO_WORLD_MODEL_WORLD_MODEL_H_
#define LZERO_WORLD_MODEL_WORLD_MODEL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/nn/encoder.h"
#include "lzero/nn/layers.h"
#include "lzero/nn/transformer.h"
#include "torch/nn/module.h"

namespace lzero {

// What a world model is built from: the config and the shapes of its environment.
struct WorldModelShape {
  std::vector<int64_t> observation_shape;
  int64_t num_actions = 0;
};

class WorldModel : public torch::nn::Module {
 public:
  // Fresh weights, a function of `seed` alone, on `device`. InvalidArgument when the encoder does
  // not fit the observations; ResourceExhausted when the memory is not there.
  static absl::StatusOr<std::shared_ptr<WorldModel>> Create(const ModelConfig& config,
                                                            const WorldModelShape& shape,
                                                            uint64_t seed,
                                                            at::Device device = at::kCPU);

  // observations [N, observation size] -> latents [N, E], final norm applied.
  at::Tensor Encode(const at::Tensor& observations) const;
  // actions [...] int64 or int32 -> tokens [..., E].
  at::Tensor EmbedActions(const at::Tensor& actions) const;
  // latents [N, T, E], actions [N, T] -> tokens [N, 2 T, E], each action behind its latent.
  at::Tensor MakeTokens(const at::Tensor& latents, const at::Tensor& actions) const;

  // Heads. y [..., E] is the transformer's output at an observation token (policy, value) or at an
  // action token (reward, next latent).
  at::Tensor PolicyLogits(const at::Tensor& y) const;  // [..., A]
  at::Tensor ValueLogits(const at::Tensor& y) const;   // [..., S]
  at::Tensor RewardLogits(const at::Tensor& y) const;  // [..., S]
  at::Tensor NextLatent(const at::Tensor& y) const;    // [..., E], final norm applied

  // Expected scalar of value or reward logits [..., S] -> [...].
  at::Tensor Decode(const at::Tensor& logits) const;

  const Transformer& transformer() const { return *transformer_; }
  const ModelConfig& config() const { return config_; }
  const WorldModelShape& shape() const { return shape_; }
  int64_t num_parameters() const;
  at::Device device() const { return action_embedding_.device(); }

  // Copies every weight of `other`, which has the same architecture and device, in place: addresses
  // stay.
  void CopyWeightsFrom(const WorldModel& other);
  // weight <- weight + rate * (other's weight - weight), in place: the EMA target network. Nothing
  // changes where `skip`, a float32 scalar on the model's device, is 1; undefined counts as 0.
  void MoveWeightsTowards(const WorldModel& other, double rate, const at::Tensor& skip = {});

 private:
  WorldModel(const ModelConfig& config, const WorldModelShape& shape,
             std::shared_ptr<Encoder> encoder);

  ModelConfig config_;
  WorldModelShape shape_;
  std::shared_ptr<Encoder> encoder_;
  at::Tensor action_embedding_;  // [A, E]
  std::shared_ptr<Transformer> transformer_;
  std::shared_ptr<Head> policy_head_;
  std::shared_ptr<Head> value_head_;
  std::shared_ptr<Head> reward_head_;
  std::shared_ptr<Head> latent_head_;
  at::Tensor atoms_;  // [S]
  // All parameters: collecting them by name costs as much as moving those of a small net.
  std::vector<at::Tensor> weights_;
};

}  // namespace lzero

#endif  // LZERO_WORLD_MODEL_WORLD_MODEL_H_
