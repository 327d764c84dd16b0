// The training forward pass of UniZero and its losses [UniZero, arXiv 2406.10667]: one sequence
// pass over [N, 2 (C + U)] tokens. Targets come from the EMA target network without gradient. The
// terms are those of losses.h. All tensors float32 on the model's device unless said. Never
// synchronises: the terms are tensors.
#ifndef LZERO_FAMILY_UNIZERO_UNIZERO_LOSSES_H_
#define LZERO_FAMILY_UNIZERO_UNIZERO_LOSSES_H_

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/model/network.h"

namespace lzero {

// bootstrap_scales * V(bootstrap_observations) + partial_returns -> [N, U]. The target network
// reads each bootstrap observation as a sequence of one token, or behind those before it where the
// batch has them (replay.bootstrap_context_steps), and none where every scale is 0. No gradient.
at::Tensor ComputeValueTargets(const WorldModel& target, const BatchTensors& batch);

// The losses of a batch, shapes as in BatchTensors and LossTerms. Gradients flow from the total to
// the weights of `model`, none to `target`.
LossTerms ComputeLosses(const WorldModel& model, const WorldModel& target,
                        const BatchTensors& batch, const LossConfig& weights);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_UNIZERO_LOSSES_H_
