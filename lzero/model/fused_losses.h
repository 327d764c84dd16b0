// All loss terms and metrics of an update by the kernels of loss_kernels.h: one node of the graph
// instead of some fifty. Pure functions; what they compute is said in losses.h. Tensors are
// float32.
#ifndef LZERO_MODEL_FUSED_LOSSES_H_
#define LZERO_MODEL_FUSED_LOSSES_H_

#include <array>

#include "ATen/core/Tensor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kernels/loss_kernels.h"
#include "lzero/model/batch_tensors.h"
#include "lzero/model/network.h"

namespace lzero {

// What the model predicted at each of the N U unrolled positions, and what it should have.
// Gradients flow to the logits and next_latents.
struct Predictions {
  at::Tensor value_logits;    // [N, U, S]
  at::Tensor policy_logits;   // [N, U, policy size]
  at::Tensor reward_logits;   // [N, U, S]
  at::Tensor next_latents;    // [N, U, E]
  at::Tensor values;          // [N, U] decoded
  at::Tensor value_targets;   // [N, U]
  at::Tensor latent_targets;  // [N, U, E]
  at::Tensor latents;         // [N, C + U, E] of the inputs
};

// What the losses of a batch sum up to.
struct LossSums {
  at::Tensor total;         // a scalar, the only tensor with gradient
  at::Tensor value_errors;  // [N]
  // [kNumLossTerms + 4]: means of the terms, in the order of kNumLossTerms; mean value, mean value
  // error, spread and norm of the latents.
  at::Tensor numbers;
};

// What each loss term counts in the total, in the order of kNumLossTerms (loss_kernels.h).
std::array<double, kNumLossTerms> LossTermFactors(const LossConfig& weights);

// Whether the kernels apply: float32 on the CPU, discrete actions, and distance of latents by
// squares. Reads no number.
bool CanFuseLosses(const Predictions& predictions, const BatchTensors& batch,
                   const ModelConfig& config);

// Where they apply: the sums of ComputeLossTerms. Gradients flow once, to what Predictions says.
LossSums ComputeFusedLosses(const Predictions& predictions, const BatchTensors& batch,
                            const LossConfig& weights, const ModelConfig& config);

}  // namespace lzero

#endif  // LZERO_MODEL_FUSED_LOSSES_H_
