// What networks with a recurrent latent state share [MuZero, Schrittwieser et al. 2020]: a
// representation of one observation, dynamics that step it by an action, and predictions read from
// it; no memory beyond the latent state. As an option the self-supervised latent loss of
// EfficientZero [Ye et al. 2021] or UniZero's squared distance. A family derives from it how an
// unrolled step goes. Weights, forward functions and losses; no search. All tensors float32 on the
// network's device unless said; gradients flow unless said. Const methods may run on any thread
// while nobody writes the weights.
#ifndef LZERO_MODEL_LATENT_NETWORK_H_
#define LZERO_MODEL_LATENT_NETWORK_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/fused_losses.h"
#include "lzero/model/network.h"
#include "lzero/model/projector.h"
#include "lzero/nn/latent_parts.h"
#include "lzero/nn/layers.h"

namespace lzero {

class LatentNetwork : public Network {
 public:
  // observations [N, observation size] -> latents [N, S], final norm applied.
  at::Tensor Represent(const at::Tensor& observations) const;
  // latents [N, S], actions [N] int32 or int64 (box: [N, D] float32) -> the next latents [N, S],
  // normalised.
  at::Tensor NextLatents(const at::Tensor& latents, const at::Tensor& actions) const;
  // Heads: the reward is read from the latents [N, S] that a step led to, policy and value from
  // those of a state.
  // [N, support], [N, policy size] and [N, support].
  at::Tensor RewardLogits(const at::Tensor& x) const { return reward_head_->Forward(x); }
  at::Tensor PolicyLogits(const at::Tensor& x) const { return policy_head_->Forward(x); }
  at::Tensor ValueLogits(const at::Tensor& x) const { return value_head_->Forward(x); }

  int64_t latent_size() const { return latent_size_; }  // S

 protected:
  // Unrolled step number k: latents [N, S] -> the next latents [N, S].
  using UnrollStep = std::function<at::Tensor(const at::Tensor& latents, int64_t k)>;

  LatentNetwork(const ModelConfig& config, const WorldModelShape& shape, const LatentParts& parts);
  // The unrolled losses of MuZero, appendix G: U steps from the first observation; targets and
  // terms as in losses.h. The dynamics' latents pass on half of the gradient of what is read from
  // them later: the next step, as in the paper, and policy and value, as EfficientZero's and
  // LightZero's code do. The reward and the latent loss keep their whole gradient. The latent loss
  // compares these latents with those of the real observations, by model.latent_loss.
  // `value_targets` [N, U], if given, receives what the values were compared with, without
  // gradient.
  LossTerms ComputeUnrolledLosses(const LatentNetwork& target, const BatchTensors& batch,
                                  const LossConfig& weights, const UnrollStep& step,
                                  at::Tensor* value_targets) const;
  // ComputeOpenLoopErrors (network.h) of a family that steps by `step`: [3, H]. No gradient.
  at::Tensor OpenLoopErrorsOf(const BatchTensors& batch, int64_t num_horizons,
                              const UnrollStep& step) const;
  // x [...] -> [...], the same numbers; half of the gradient flows.
  static at::Tensor HalveGradient(const at::Tensor& x);

 private:
  // latents [..., S] -> [..., width].
  at::Tensor Project(const at::Tensor& latents) const;
  // Fills next_latents and latent_targets, which the latent loss compares. next_latents [N, U, S];
  // no gradient flows to the targets.
  void AddLatentTerms(const LatentNetwork& target, const BatchTensors& batch,
                      const at::Tensor& next_latents, Predictions* predictions) const;

  int64_t latent_size_;
  at::Tensor action_table_;  // [A, I]; box: [D + 1, I]
  std::shared_ptr<LatentStep> dynamics_;
  std::shared_ptr<LatentHead> reward_head_, policy_head_, value_head_;
  // latent_loss cosine: what both sides are projected by, and what predicts one from the other.
  std::shared_ptr<LinearLayer> projector_;
  std::shared_ptr<ProjectorTail> projector_tail_;  // null: the projector is one layer
  std::shared_ptr<Head> predictor_;
};

}  // namespace lzero

#endif  // LZERO_MODEL_LATENT_NETWORK_H_
