// The network of AlphaZero [Silver et al. 2018]: an encoder with a policy and a value head, and the
// losses that teach them. It predicts no step: its search simulates with the environment itself
// (lzero/family/alphazero/alphazero_inference.h). In ModelConfig it reads the encoder's keys,
// embed_dim, head_dim, support_size, latent_norm and sim_norm_group. Latents are vectors, or, where
// the policy is read cell by cell, the planes of a board: [N, S] either way, S = E of vectors. All
// tensors float32 on the network's device; gradients flow unless said. Const methods may run on any
// thread while nobody writes the weights.
#ifndef LZERO_FAMILY_ALPHAZERO_ALPHAZERO_NETWORK_H_
#define LZERO_FAMILY_ALPHAZERO_ALPHAZERO_NETWORK_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/network.h"
#include "lzero/nn/encoder.h"
#include "lzero/nn/layers.h"

namespace lzero {

class AlphaZeroNetwork : public Network {
 public:
  // Fresh weights, a function of `seed` alone, on `device`. InvalidArgument when the encoder does
  // not fit the observations; ResourceExhausted when the memory is not there. On device meta it has
  // sizes alone and allocates nothing: for num_parameters. The caller must
  // give a `shape` of discrete actions.
  static absl::StatusOr<std::shared_ptr<AlphaZeroNetwork>> Create(const ModelConfig& config,
                                                                  const WorldModelShape& shape,
                                                                  uint64_t seed,
                                                                  at::Device device = at::kCPU);
  // observations [N, observation size] -> latents [N, S], final norm applied.
  at::Tensor Encode(const at::Tensor& observations) const;
  // Heads: latents [N, S] -> [N, A] and [N, atoms].
  at::Tensor PolicyLogits(const at::Tensor& x) const { return policy_head_->Forward(x); }
  at::Tensor ValueLogits(const at::Tensor& x) const { return value_head_->Forward(x); }

  // Every unrolled position o_0 .. o_{U-1} is read by itself: cross-entropy of the policy against
  // the search, entropy bonus, cross-entropy of the value against the n-step target of `target`
  // (replay/batch/targets.h). Context steps are not read. Each term is a mean over the valid
  // positions of a sample, then over the batch, weighted as in losses.h; the metrics of terms that
  // this network lacks are 0. Gradients flow to this network's weights through the total alone.
  LossTerms ComputeLosses(const Network& target, const BatchTensors& batch,
                          const LossConfig& weights) const override;

 private:
  AlphaZeroNetwork(const ModelConfig& config, const WorldModelShape& shape);

  std::shared_ptr<LatentHead> policy_head_;
  std::shared_ptr<LatentHead> value_head_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_ALPHAZERO_NETWORK_H_
