// The training forward pass of the world model and its named loss terms (model.md section 3).
// One sequence pass over [N, 2 (C + U)] tokens; targets come from the EMA target network without
// gradient. Not an optimiser. Never synchronises: the terms are tensors.
#ifndef LZERO_WORLD_MODEL_LOSSES_H_
#define LZERO_WORLD_MODEL_LOSSES_H_

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/world_model/world_model.h"

namespace lzero {

// A training batch on the model's device. N samples, C context steps, U unroll steps, A actions.
struct BatchTensors {
  at::Tensor observations;            // [N, C + U + 1, obs]
  at::Tensor actions;                 // [N, C + U] int32
  at::Tensor num_padding;             // [N] int64, tokens before the start; undefined: none
  at::Tensor rewards;                 // [N, U]
  at::Tensor reward_mask;             // [N, U]
  at::Tensor latent_mask;             // [N, U]
  at::Tensor policies;                // [N, U, A]
  at::Tensor policy_mask;             // [N, U]
  at::Tensor illegal;                 // [N, U, A] bool
  at::Tensor value_mask;              // [N, U]
  at::Tensor partial_returns;         // [N, U]
  at::Tensor bootstrap_scales;        // [N, U]
  at::Tensor bootstrap_observations;  // [N, U, obs]
  at::Tensor importance_weights;      // [N]
  int64_t num_context_steps = 0;
};

// Numbers that describe an update.
enum Figure {
  kTotalLoss,
  kLatentLoss,
  kRewardLoss,
  kValueLoss,
  kPolicyLoss,
  kPolicyEntropy,      // of the policy over legal actions
  kValueMean,          // mean predicted value
  kValueError,         // mean of the value errors
  kLargestValueError,  // the largest of them
  kLatentSpread,       // standard deviation of latents over the batch: near 0 when they collapse
  kLatentNorm,         // mean L2 norm of the same latents
  kNumFigures
};

struct LossTerms {
  at::Tensor total;         // a scalar, the only one with gradient
  at::Tensor figures;       // [kNumFigures]
  at::Tensor value_errors;  // [N] mean |V - target| over valid positions
};

// bootstrap_scales * V(bootstrap_observations) + partial_returns -> [N, U]; the target network
// reads each bootstrap observation as a sequence of one token. No gradient.
at::Tensor ComputeValueTargets(const WorldModel& target, const BatchTensors& batch);

// Every term is a mean over the valid positions of each sample, then over the batch. In `total`
// each sample counts with its importance weight and each term with its weight from `weights`; the
// named terms are plain means, so that they read alike with and without prioritised replay.
LossTerms ComputeLosses(const WorldModel& model, const WorldModel& target,
                        const BatchTensors& batch, const LossConfig& weights);

}  // namespace lzero

#endif  // LZERO_WORLD_MODEL_LOSSES_H_
