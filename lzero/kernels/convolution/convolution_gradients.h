// Gradients of a 3x3 convolution (packed_convolution.h): of its input, and of its weights, summed
// over many planes. Planes are [samples, height, width, channels], float32. In the caller's thread.
// Belongs to one thread while it is packed.
#ifndef LZERO_KERNELS_CONVOLUTION_CONVOLUTION_GRADIENTS_H_
#define LZERO_KERNELS_CONVOLUTION_CONVOLUTION_GRADIENTS_H_

#include <cstdint>
#include <vector>

#include "lzero/kernels/convolution/packed_convolution.h"

namespace lzero {

class ConvolutionGradients {
 public:
  // weight [out, in, 3, 3], contiguous. Packed again, it allocates only to grow.
  void Pack(const ConvolutionShape& shape, const float* weight);

  // Floats of scratch for one call with such planes, and of the sums of AddWeights.
  int64_t scratch_size(const PlaneSizes& planes) const;
  int64_t sums_size() const;

  // dx, `planes` of the input, from the gradient dy of the output.
  void RunInputs(const PlaneSizes& planes, const float* dy, float* dx, float* scratch) const;
  // Adds to sums [sums_size] what FinishWeights makes the gradient of the weights of.
  void AddWeights(const PlaneSizes& planes, const float* x, const float* dy, float* sums,
                  float* scratch) const;
  // dweight [out, in, 3, 3].
  void FinishWeights(const float* sums, float* dweight) const;

 private:
  ConvolutionShape shape_;
  PackedConvolution backward_;  // of stride 1
  PackedMatrix rows_;           // of stride 2: [out, 9 in]
  std::vector<float> turned_;   // weights on their way into rows_
};

}  // namespace lzero

#endif  // LZERO_KERNELS_CONVOLUTION_CONVOLUTION_GRADIENTS_H_
