// The Stochastic MuZero model [Antonoglou et al. 2022, Planning in stochastic environments with a
// learned model]: an action leads to an afterstate, one of C chance outcomes leads on from there.
// The outcomes are the environment's own numbers, so that what the chance head learned can be
// compared with the truth; there is no learned code book. Otherwise a LatentNetwork whose dynamics
// lead to afterstates here; tensors and gradients as there.
#ifndef LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_NETWORK_H_
#define LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_NETWORK_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/latent_network.h"
#include "lzero/nn/latent_parts.h"

namespace lzero {

class StochasticMuZeroNetwork : public LatentNetwork {
 public:
  // `shape.num_chance_outcomes` is above 0. Errors as MuZeroNetwork::Create.
  static absl::StatusOr<std::shared_ptr<StochasticMuZeroNetwork>> Create(
      const ModelConfig& config, const WorldModelShape& shape, uint64_t seed,
      at::Device device = at::kCPU);

  // latents [N, S], actions [N] int32 or int64 -> afterstates [N, S], normalised.
  at::Tensor Afterstates(const at::Tensor& latents, const at::Tensor& actions) const {
    return NextLatents(latents, actions);
  }
  // afterstates [N, S], outcomes [N] int64 or int32 -> the next latents [N, S], normalised.
  at::Tensor LatentsAfterChance(const at::Tensor& afterstates, const at::Tensor& outcomes) const;
  // Read from afterstates [N, S]: logits of the outcomes [N, C], and of the value of having chosen
  // that action [N, support].
  at::Tensor ChanceLogits(const at::Tensor& x) const { return chance_head_->Forward(x); }
  at::Tensor AfterstateValueLogits(const at::Tensor& x) const {
    return afterstate_value_head_->Forward(x);
  }

  // The terms of MuZero, and two more, each a mean over the valid positions of each sample, then
  // over the batch: cross-entropy of the chance logits against the outcome that came, and of the
  // afterstate's value against the value target of the state before it. Positions whose outcome is
  // unknown (-1) step by outcome 0 and count in neither. Gradients flow through the total alone.
  LossTerms ComputeLosses(const Network& target, const BatchTensors& batch,
                          const LossConfig& weights) const override;
  // [3, H], see Network, by the chance outcomes that came, where they are known. No gradient.
  at::Tensor ComputeOpenLoopErrors(const BatchTensors& batch, int64_t num_horizons) const override;

 private:
  StochasticMuZeroNetwork(const ModelConfig& config, const WorldModelShape& shape,
                          const LatentParts& parts);

  at::Tensor chance_table_;  // [C, I]
  std::shared_ptr<LatentStep> chance_step_;
  std::shared_ptr<LatentHead> chance_head_, afterstate_value_head_;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_NETWORK_H_
