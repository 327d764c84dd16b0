// 3x3 convolutions with a norm that needs no batch, and the residual block of two of them: what
// encoders of boards and images and convolutional dynamics are made of. All tensors float32;
// gradients flow to inputs and weights. No thread rule beyond torch's own.
#ifndef LZERO_NN_CONVOLUTION_H_
#define LZERO_NN_CONVOLUTION_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "ATen/core/Tensor.h"
#include "torch/nn/module.h"

namespace lzero {

// 3x3 convolution with stride 1 or 2 followed by a norm over all channels and cells of one sample
// (GroupNorm with one group): no statistics over the batch, so training and inference agree
// exactly.
class ConvolutionLayer : public torch::nn::Module {
 public:
  ConvolutionLayer(int64_t in, int64_t out, int64_t stride);
  // x [N, in, height, width] -> [N, out, height / stride, width / stride], rounded up.
  at::Tensor Forward(const at::Tensor& x) const;
  int64_t stride() const { return stride_; }

 private:
  int64_t stride_;
  at::Tensor weight_, norm_weight_, norm_bias_;
};

// While it lives, this thread's convolutions without gradients on a CUDA device round float32
// operands to TF32 (`rounds`) or do not, whatever libtorch is told for the whole process; nullopt:
// as it is told.
class ConvolutionPrecision {
 public:
  explicit ConvolutionPrecision(std::optional<bool> rounds);
  ~ConvolutionPrecision();
  ConvolutionPrecision(const ConvolutionPrecision&) = delete;
  ConvolutionPrecision& operator=(const ConvolutionPrecision&) = delete;

 private:
  std::optional<bool> before_;
};

// x + second(relu(first(x))): x [N, in, height, width] -> [N, out, height / stride, width /
// stride]. Where `first` halves the size, x is averaged over 2x2 cells.
at::Tensor ResidualSum(const at::Tensor& x, const ConvolutionLayer& first,
                       const ConvolutionLayer& second);

}  // namespace lzero

#endif  // LZERO_NN_CONVOLUTION_H_
