// The training forward pass of the world model and its named loss terms (model.md section 3).
// One sequence pass over [N, 2 (C + U)] tokens; targets come from the EMA target network without
// gradient. Not an optimiser. Never synchronises: the terms are tensors.
#ifndef LZERO_WORLD_MODEL_LOSSES_H_
#define LZERO_WORLD_MODEL_LOSSES_H_

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/world_model/fused_losses.h"
#include "lzero/world_model/world_model.h"

namespace lzero {

// Mean over the valid positions of each sample: values, mask [N, U] -> [N]. A sum that overflows
// shows.
at::Tensor MeanOverValid(const at::Tensor& values, const at::Tensor& mask);

// All terms and figures from what a model predicted. Every term is a mean over the valid positions
// of each sample, then over the batch. In `total` each sample counts with its importance weight and
// each term with its weight from `weights`; the named terms are plain means, so that they read
// alike with and without prioritised replay. `config` names the distance of latents: mse (mean
// squared), group_kl, cosine (1 - cosine similarity); none is for zeros.
LossTerms ComputeLossTerms(const Predictions& predictions, const BatchTensors& batch,
                           const LossConfig& weights, const ModelConfig& config);

// bootstrap_scales * V(bootstrap_observations) + partial_returns -> [N, U]; the target network
// reads each bootstrap observation as a sequence of one token, and none where every scale is 0. No
// gradient.
at::Tensor ComputeValueTargets(const WorldModel& target, const BatchTensors& batch);

LossTerms ComputeLosses(const WorldModel& model, const WorldModel& target,
                        const BatchTensors& batch, const LossConfig& weights);

}  // namespace lzero

#endif  // LZERO_WORLD_MODEL_LOSSES_H_
