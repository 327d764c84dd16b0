// One hidden layer and what is around it, as one function with its gradient: kernels of
// perceptron_kernels.h on the CPU while its weights fit the cache, layer by layer elsewhere. All
// tensors float32 on one device. A pure function.
#ifndef LZERO_NN_FUNCTIONAL_PERCEPTRON_H_
#define LZERO_NN_FUNCTIONAL_PERCEPTRON_H_

#include "ATen/core/Tensor.h"

namespace lzero {

// Weights of the two layers and their norms; an undefined weight and bias of a norm: no norm there.
struct PerceptronWeights {
  at::Tensor norm_weight1, norm_bias1;  // [in]
  at::Tensor weight1, bias1;            // [hidden, in], [hidden]
  at::Tensor norm_weight2, norm_bias2;  // [hidden]
  at::Tensor weight2, bias2;            // [out, hidden], [out]
};

// x [..., in] -> W2 gelu(N2(W1 N1(x) + b1)) + b2 [..., out], with `residual` plus x (in = out).
// Gradients flow to x and all weights.
at::Tensor Perceptron(const at::Tensor& x, const PerceptronWeights& weights, bool residual);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_PERCEPTRON_H_
