// The linear map of every layer, with its gradients, as one function: kernels of matrix_product.h
// on the CPU, plain operations elsewhere. All tensors float32 on one device; gradients flow to
// every argument. Pure functions.
#ifndef LZERO_NN_FUNCTIONAL_LINEAR_H_
#define LZERO_NN_FUNCTIONAL_LINEAR_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// x W^T + b: x [..., in], weight [out, in], bias [out] -> [..., out].
at::Tensor Linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

// residual + x W^T + b, shapes as in Linear: residual [..., out] -> [..., out].
at::Tensor LinearAdd(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                     const at::Tensor& residual);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_LINEAR_H_
