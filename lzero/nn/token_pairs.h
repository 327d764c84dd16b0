// The tokens of a sequence lie in pairs, the latent of an observation before the embedding of its
// action. Each function is one node of the graph on the kernels' path, where plain operations are a
// dozen. Pure functions, any thread.
#ifndef LZERO_NN_TOKEN_PAIRS_H_
#define LZERO_NN_TOKEN_PAIRS_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// latents [N, T, E], embeddings [A, E] of all actions, actions [N, T] int32 or int64 -> tokens
// [N, 2 T, E], float32 but for the actions. Gradients flow to latents and embeddings. Shapes are
// checked (LZ_CHECK); every action must be in 0..A-1: LZ_CHECK for int32 on the CPU, libtorch's
// error elsewhere.
at::Tensor PairTokens(const at::Tensor& latents, const at::Tensor& embeddings,
                      const at::Tensor& actions);

// Contiguous, [N, U, E] float32 each.
struct TokenPairs {
  at::Tensor at_observations, at_actions;
};

// Splits outputs [N, 2 T, E] float32 by kind of token and leaves out the first T - U =
// `num_left_out` steps. Gradients flow.
TokenPairs SplitTokens(const at::Tensor& outputs, int64_t num_left_out);

}  // namespace lzero

#endif  // LZERO_NN_TOKEN_PAIRS_H_
