// 3x3 convolutions with a norm that needs no batch, and the residual block of two of them: what
// encoders of boards and images and convolutional dynamics are made of: modules over the functions
// of functional/planes.h, whose planes they take. All tensors float32; gradients flow to inputs and
// weights. No thread rule beyond torch's own.
#ifndef LZERO_NN_CONVOLUTION_H_
#define LZERO_NN_CONVOLUTION_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "torch/nn/module.h"

namespace lzero {

// 3x3 convolution with stride 1 or 2 followed by a norm over all channels and cells of one sample
// (GroupNorm with one group): no statistics over the batch, so training and inference agree
// exactly.
class ConvolutionLayer : public torch::nn::Module {
 public:
  ConvolutionLayer(int64_t in, int64_t out, int64_t stride);
  // x [N, in, height, width] -> [N, out, height / stride, width / stride], rounded up: the norm,
  // plus `addend` of that shape if it is defined, then ReLU if asked for.
  at::Tensor Forward(const at::Tensor& x, bool relu = false, const at::Tensor& addend = {}) const;
  int64_t stride() const { return stride_; }

 private:
  int64_t stride_;
  at::Tensor weight_, norm_weight_, norm_bias_;
};

// x + second(relu(first(x))), then ReLU if asked for: x [N, in, height, width] -> [N, out, height /
// stride, width / stride]. Where `first` halves the size, x is averaged over 2x2 cells.
at::Tensor ResidualSum(const at::Tensor& x, const ConvolutionLayer& first,
                       const ConvolutionLayer& second, bool relu);

}  // namespace lzero

#endif  // LZERO_NN_CONVOLUTION_H_
