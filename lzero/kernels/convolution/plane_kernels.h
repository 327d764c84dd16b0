// What stands between convolutions of planes: a norm over all channels and cells of a sample
// (GroupNorm of one group), what is added behind it, ReLU, and the mean of 2x2 cells; forward and
// backward. Planes are [samples, height, width, channels], float32. A sample depends on itself
// alone, bit for bit. In the caller's thread; no allocation.
#ifndef LZERO_KERNELS_CONVOLUTION_PLANE_KERNELS_H_
#define LZERO_KERNELS_CONVOLUTION_PLANE_KERNELS_H_

#include <cstdint>

#include "lzero/kernels/convolution/tile_kernels.h"

namespace lzero {

// y = relu(weight (x - mean) / deviation + bias + addend).
struct PlaneNormTask {
  int64_t samples = 0;
  int64_t cells = 0;  // height times width
  int64_t channels = 0;
  const float* x = nullptr;
  const float* weight = nullptr;  // [channels]
  const float* bias = nullptr;    // [channels]
  const float* addend = nullptr;  // as x; null: none
  bool relu = false;
  float* means = nullptr;               // [samples], written by the forward pass; null: not kept
  float* inverse_deviations = nullptr;  // [samples], likewise
};

// y may be x or the addend.
void NormPlanes(const PlaneNormTask& task, float* y);

// Where the backward pass reads and writes; dx and daddend may be dy, not both.
struct PlaneNormGradients {
  const float* y = nullptr;   // the output of the forward pass; read with relu only
  const float* dy = nullptr;  // its gradient
  float* dx = nullptr;
  float* daddend = nullptr;  // null: not written
  float* dweight = nullptr;  // [channels], added to
  float* dbias = nullptr;    // [channels], added to
};

void NormPlanesBackward(const PlaneNormTask& task, const PlaneNormGradients& gradients);

// y = bytes / 255, of bytes [samples, channels, height, width].
void BytesToPlanes(const PlaneSizes& planes, int64_t channels, const uint8_t* bytes, float* y);

// y, planes of half the size (rounded up), the means of the cells of x in each 2x2.
void HalvePlanes(const PlaneSizes& planes, int64_t channels, const float* x, float* y);
// dx from the gradient dy of HalvePlanes.
void HalvePlanesBackward(const PlaneSizes& planes, int64_t channels, const float* dy, float* dx);

}  // namespace lzero

#endif  // LZERO_KERNELS_CONVOLUTION_PLANE_KERNELS_H_
