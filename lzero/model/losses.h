// The loss terms of an update, from what a network of whatever family predicted at the unrolled
// positions. Not an optimiser. Never synchronises: the terms are tensors, float32.
#ifndef LZERO_MODEL_LOSSES_H_
#define LZERO_MODEL_LOSSES_H_

#include "ATen/core/Tensor.h"
#include "absl/functional/function_ref.h"
#include "lzero/config/experiment_config.h"
#include "lzero/model/fused_losses.h"

namespace lzero {

// Mean over the valid positions of each sample: values, mask [N, U] -> [N]. A sum that overflows
// shows. Gradients flow to `values`.
at::Tensor MeanOverValid(const at::Tensor& values, const at::Tensor& mask);

// Targets of the values, without gradient: bootstrap_scales * value_of(bootstrap_observations) +
// partial_returns -> [N, U]. `value_of` reads observations [N U, obs] with the target network ->
// values of N U numbers; it is not called where every scale is 0.
at::Tensor ValueTargets(const BatchTensors& batch,
                        absl::FunctionRef<at::Tensor(const at::Tensor& observations)> value_of);

// All terms and metrics from what a model predicted. Every term is a mean over the valid positions
// of each sample, then over the batch. In `total` each sample counts with its importance weight and
// each term with its weight from `weights`; the named terms are plain means, so that they read
// alike with and without prioritised replay. `config` names the distance of latents: mse (mean
// squared), group_kl, or cosine (1 - cosine similarity). With latent_loss none the caller must give
// zeros as predicted and target latents; the term is then 0. Gradients flow from the total to the
// logits and next_latents of `predictions`, once. The metrics are loss/{latent,reward,value,
// policy}, policy/entropy (over legal actions), value/{mean,error} and latent/{spread,norm}: the
// standard deviation of the latents over the batch, near 0 when they collapse, and their mean L2
// norm.
LossTerms ComputeLossTerms(const Predictions& predictions, const BatchTensors& batch,
                           const LossConfig& weights, const ModelConfig& config);

}  // namespace lzero

#endif  // LZERO_MODEL_LOSSES_H_
