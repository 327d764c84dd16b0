// LayerNorm, GELU, and both together, each with its gradient as one function: kernels of
// norm_kernels.h on the CPU, plain operations elsewhere. All tensors float32 on one device;
// gradients flow to every argument. Pure functions.
#ifndef LZERO_NN_FUNCTIONAL_NORM_H_
#define LZERO_NN_FUNCTIONAL_NORM_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// Normalises the last axis of x [..., size] -> [..., size], then multiplies by `weight` [size]
// and adds `bias` [size].
at::Tensor LayerNorm(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
// gelu(LayerNorm(x)), tanh form, in the shapes of LayerNorm.
at::Tensor LayerNormGelu(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);
// LayerNorm without weight and bias: x [..., size] -> [..., size].
at::Tensor Normalize(const at::Tensor& x);
// gelu(x), tanh form, elementwise: x [...] -> [...].
at::Tensor Gelu(const at::Tensor& x);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_NORM_H_
