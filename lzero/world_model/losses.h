// The training forward pass of the world model and its named loss terms (model.md section 3).
// One sequence pass over [N, 2 (C + U)] tokens; targets come from the EMA target network without
// gradient. Not an optimiser. Never synchronises: the terms are tensors.
#ifndef LZERO_WORLD_MODEL_LOSSES_H_
#define LZERO_WORLD_MODEL_LOSSES_H_

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/world_model/world_model.h"

namespace lzero {

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
