// Convolutions of planes with what follows them, each with its gradient as one function: kernels of
// lzero/kernels/convolution on the CPU, plain operations elsewhere. Planes are [N, channels,
// height, width] in any memory format; those of the kernels come out with channels last. All
// tensors float32 on one device; gradients flow to every argument. Pure functions.
#ifndef LZERO_NN_FUNCTIONAL_PLANES_H_
#define LZERO_NN_FUNCTIONAL_PLANES_H_

#include <cstdint>
#include <optional>

#include "ATen/core/Tensor.h"

namespace lzero {

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

// A 3x3 convolution with one cell of zeros around its input, and the weight and bias of the norm of
// its output over all channels and cells of a sample (GroupNorm of one group).
struct NormedConvolutionWeights {
  at::Tensor weight;                  // [out, in, 3, 3]
  at::Tensor norm_weight, norm_bias;  // [out]
};

// norm(convolution(x)), plus `addend` if that is defined, then ReLU if asked for: x [N, in, height,
// width] -> [N, out, height / stride, width / stride], rounded up.
at::Tensor NormedConvolution(const at::Tensor& x, const NormedConvolutionWeights& weights,
                             int64_t stride, const at::Tensor& addend, bool relu);

// The planes that pictures of bytes stand for, k / 255 for byte k: [N, channels, height, width]
// uint8 on the CPU -> float32.
at::Tensor PlanesOfBytes(const at::Tensor& bytes);

// Means of 2x2 cells: x [N, channels, height, width] -> half the size, rounded up.
at::Tensor HalvedPlanes(const at::Tensor& x);

}  // namespace lzero

#endif  // LZERO_NN_FUNCTIONAL_PLANES_H_
