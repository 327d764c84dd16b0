// A 3x3 convolution, the norm of its planes, what is added to them and ReLU in one go, forward and
// backward: some samples at a time, which stay in the second cache. Planes are [samples, height,
// width, channels], float32, contiguous. Shared by the threads of kernels; blocks. No tensors here:
// see lzero/nn/functional/planes.h.
#ifndef LZERO_KERNELS_CONVOLUTION_NORMED_CONVOLUTION_H_
#define LZERO_KERNELS_CONVOLUTION_NORMED_CONVOLUTION_H_

#include <cstdint>

#include "lzero/kernels/convolution/packed_convolution.h"

namespace lzero {

// y = relu(norm(convolution(x)) + addend).
struct NormedConvolutionTask {
  ConvolutionShape shape;
  PlaneSizes planes;                   // of x
  const float* x = nullptr;            // planes of `in` channels
  const float* weight = nullptr;       // [out, in, 3, 3]
  const float* norm_weight = nullptr;  // [out]
  const float* norm_bias = nullptr;    // [out]
  const float* addend = nullptr;       // as y; null: none
  bool relu = false;
  // For the backward pass, which reads what the forward pass wrote; null: not kept.
  float* units = nullptr;    // as y: what is normed
  float* moments = nullptr;  // [2, samples] means, then inverse deviations
};

// y, planes of `out` channels, which may be the addend. The numbers of a sample do not depend on
// others.
void RunNormedConvolution(const NormedConvolutionTask& task, float* y);

// Null: not wanted, of dx and daddend.
struct NormedConvolutionGradients {
  float* dx = nullptr;
  float* daddend = nullptr;      // may be dy
  float* weight = nullptr;       // [out, in, 3, 3]
  float* norm_weight = nullptr;  // [out]
  float* norm_bias = nullptr;    // [out]
};

// For the output y, read with relu only, and its gradient dy.
void RunNormedConvolutionBackward(const NormedConvolutionTask& task, const float* y,
                                  const float* dy, const NormedConvolutionGradients& gradients);

}  // namespace lzero

#endif  // LZERO_KERNELS_CONVOLUTION_NORMED_CONVOLUTION_H_
