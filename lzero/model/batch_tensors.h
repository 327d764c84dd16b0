// A training batch on the model's device, as every family's losses read it. Float32 unless said;
// observations may be bytes, as Encoder reads them. No tensor needs a gradient. Plain data; belongs
// to whoever holds it.
#ifndef LZERO_MODEL_BATCH_TENSORS_H_
#define LZERO_MODEL_BATCH_TENSORS_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// N samples, C context steps, U unroll steps, A actions, D action dimensions, K sampled actions.
struct BatchTensors {
  at::Tensor observations;            // [N, C + U + 1, obs]
  at::Tensor actions;                 // [N, C + U] int32; box: [N, C + U, D] float32 in [-1, 1]
  at::Tensor chance_outcomes;         // [N, U] int32, of the step; -1: none or unknown
  at::Tensor num_padding;             // [N] int64, tokens before the start; undefined: none
  at::Tensor rewards;                 // [N, U]
  at::Tensor reward_mask;             // [N, U]
  at::Tensor latent_mask;             // [N, U]
  at::Tensor policies;                // [N, U, A]; box: [N, U, K], shares of the sampled actions
  at::Tensor sampled_actions;         // box: [N, U, K, D]; else undefined
  at::Tensor policy_mask;             // [N, U]
  at::Tensor illegal;                 // [N, U, A] bool; box: undefined
  at::Tensor value_mask;              // [N, U]
  at::Tensor partial_returns;         // [N, U]
  at::Tensor bootstrap_scales;        // [N, U]
  at::Tensor bootstrap_observations;  // [N, U, obs]; undefined: every scale is 0
  // Undefined, or bootstrap_observations are [N, B + U, obs] and these belong to them.
  at::Tensor bootstrap_actions;   // [N, B + U] int32; box: [N, B + U, D] float32
  at::Tensor bootstrap_rows;      // [N, U] int64
  at::Tensor bootstrap_padding;   // [N] int64
  at::Tensor importance_weights;  // [N]
  int64_t num_context_steps = 0;
};

// Calls visit(name, tensor) for every tensor of `batch`, a BatchTensors, const or not. Each comes
// from the TrainBatch's array of that name, but "num_padding" (of context_mask) and "illegal" (of
// legal_action_masks).
template <typename Batch, typename Visitor>
void VisitTensors(Batch& batch, const Visitor& visit) {
  visit("observations", batch.observations);
  visit("actions", batch.actions);
  visit("chance_outcomes", batch.chance_outcomes);
  visit("num_padding", batch.num_padding);
  visit("rewards", batch.rewards);
  visit("reward_mask", batch.reward_mask);
  visit("latent_mask", batch.latent_mask);
  visit("policies", batch.policies);
  visit("sampled_actions", batch.sampled_actions);
  visit("policy_mask", batch.policy_mask);
  visit("illegal", batch.illegal);
  visit("value_mask", batch.value_mask);
  visit("partial_returns", batch.partial_returns);
  visit("bootstrap_scales", batch.bootstrap_scales);
  visit("bootstrap_observations", batch.bootstrap_observations);
  visit("bootstrap_actions", batch.bootstrap_actions);
  visit("bootstrap_rows", batch.bootstrap_rows);
  visit("bootstrap_padding", batch.bootstrap_padding);
  visit("importance_weights", batch.importance_weights);
}

}  // namespace lzero

#endif  // LZERO_MODEL_BATCH_TENSORS_H_
