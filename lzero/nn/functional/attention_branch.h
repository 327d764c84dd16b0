// The attention half of a transformer block as one function with its gradient: kernels of
// attention_branch_kernels.h on the CPU while its weights fit the cache. All tensors float32 unless
// said. A pure function.
#ifndef LZERO_NN_FUNCTIONAL_ATTENTION_BRANCH_H_
#define LZERO_NN_FUNCTIONAL_ATTENTION_BRANCH_H_

#include "ATen/core/Tensor.h"
#include "lzero/nn/attention.h"

namespace lzero {

struct AttentionBranchWeights {
  at::Tensor norm_weight, norm_bias;  // [E] of the norm
  at::Tensor weight_in, bias_in;      // [3 E, E], [3 E] of queries, keys and values
  at::Tensor weight_out, bias_out;    // [E, E], [E] of the projection
};

// Whether AttentionBranch takes x [N, T, E] and these weights: float32 on the CPU, neither few rows
// nor too large weights.
bool CanFuseAttentionBranch(const at::Tensor& x, const AttentionBranchWeights& weights);

// x + Wp Attention(Wqkv LN(x) + bqkv) + bp: x [N, T, E] -> [N, T, E]. `tables` of T tokens and
// num_padding, [N] int64 or undefined, are as in SlidingAttention, whose window is `window`.
// Gradients flow to x and all weights, once: there is no second derivative.
at::Tensor AttentionBranch(const at::Tensor& x, const AttentionBranchWeights& weights,
                           const SequenceTables& tables, const at::Tensor& num_padding,
                           int64_t window);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_ATTENTION_BRANCH_H_
