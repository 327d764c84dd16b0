// The attention half of a transformer block, forward and backward, over blocks of whole sequences
// that stay in the cache: y = x + Wp Attention(Wqkv N(x) + bqkv) + bp. float32 on the CPU. No
// tensors here: see attention_branch.h.
#ifndef LZERO_KERNELS_ATTENTION_BRANCH_KERNELS_H_
#define LZERO_KERNELS_ATTENTION_BRANCH_KERNELS_H_

#include <cstdint>

#include "lzero/kernels/attention_kernels.h"

namespace lzero {

// All contiguous. Axes: N samples, T tokens, E channels, K keys of a token.
struct AttentionBranchTask {
  AttentionTask attention;             // but for qkv and probabilities, which are set here
  const float* x = nullptr;            // [N, T, E]
  const float* norm_weight = nullptr;  // [E] of the norm
  const float* norm_bias = nullptr;    // [E]
  const float* weight_in = nullptr;    // [3 E, E]
  const float* bias_in = nullptr;      // [3 E]
  const float* weight_out = nullptr;   // [E, E]
  const float* bias_out = nullptr;     // [E]
  float* moments = nullptr;            // [2, N T] of the norm
  float* qkv = nullptr;                // [N, T, 3 E]
  float* mixed = nullptr;              // [N, T, E] what attention gives
  float* probabilities = nullptr;      // [N, H, T, K]
};

// Gradients, like the parameters; all of them are written.
struct AttentionBranchGradients {
  float* x = nullptr;
  float *norm_weight = nullptr, *norm_bias = nullptr;
  float *weight_in = nullptr, *bias_in = nullptr;
  float *weight_out = nullptr, *bias_out = nullptr;
};

// y [N, T, E]; fills what the task keeps for the backward pass. The numbers do not depend on the
// number of threads.
void RunAttentionBranch(const AttentionBranchTask& task, float* y);

// From dy [N, T, E], after the forward pass of the same task. Numbers as for the
// forward pass.
void RunAttentionBranchBackward(const AttentionBranchTask& task, const float* dy,
                                const AttentionBranchGradients& gradients);

}  // namespace lzero

#endif  // LZERO_KERNELS_ATTENTION_BRANCH_KERNELS_H_
