// LayerNorm, GELU, and both together, each with its gradient as one function: kernels of
// norm_kernels.h on the CPU, plain operations elsewhere. Pure functions.
#ifndef LZERO_NN_FUNCTIONAL_NORM_H_
#define LZERO_NN_FUNCTIONAL_NORM_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// Normalises the last axis of x [..., size], then scales and shifts by scale and shift [size].
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift);
// gelu(LayerNorm(x)), tanh form.
at::Tensor LayerNormGelu(const at::Tensor& x, const at::Tensor& scale, const at::Tensor& shift);
// LayerNorm without scale and shift.
at::Tensor Normalize(const at::Tensor& x);
// gelu(x), tanh form.
at::Tensor Gelu(const at::Tensor& x);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_NORM_H_
