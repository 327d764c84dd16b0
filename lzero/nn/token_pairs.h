// The tokens of a sequence lie in pairs, the latent of an observation before the embedding of its
// action. Each function is one node of the graph on the kernels' path, where plain operations are a
// dozen. Pure functions, any thread.
#ifndef LZERO_NN_TOKEN_PAIRS_H_
#define LZERO_NN_TOKEN_PAIRS_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// latents [N, T, E], embeddings [A, E] of all actions, actions [N, T] int32 or int64 -> tokens
// [N, 2 T, E]. Shapes are checked (LZ_CHECK); every action must be in 0..A-1: LZ_CHECK for int32 on
// the CPU, libtorch's error elsewhere.
at::Tensor PairTokens(const at::Tensor& latents, const at::Tensor& embeddings,
                      const at::Tensor& actions);

// Contiguous, [N, U, E] each.
struct TokenPairs {
  at::Tensor at_observations, at_actions;
};

// Outputs [N, 2 T, E] at the tokens, without those of the first T - U steps.
TokenPairs SplitTokens(const at::Tensor& outputs, int64_t num_left_out);

}  // namespace lzero

#endif  // LZERO_NN_TOKEN_PAIRS_H_
