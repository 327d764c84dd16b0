// The weights of a 3x3 convolution with a border of zeros in the order in which products read them,
// and the convolution itself. Stride 1 from 16 to 1,024 channels on goes by tiles (tile_kernels.h),
// all else as one product of the 3x3 cells around each output cell. Planes are [samples, height,
// width, channels], float32. Packing again writes the same addresses. Belongs to one thread while
// it is written.
#ifndef LZERO_KERNELS_CONVOLUTION_PACKED_CONVOLUTION_H_
#define LZERO_KERNELS_CONVOLUTION_PACKED_CONVOLUTION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lzero/kernels/convolution/tile_kernels.h"
#include "lzero/kernels/product/aligned_array.h"
#include "lzero/kernels/product/packed_matrix.h"

namespace lzero {

struct ConvolutionShape {
  int64_t in = 0, out = 0;  // channels
  int64_t stride = 1;       // 1 or 2

  int64_t weight_size() const { return out * in * 9; }
  // Planes of an output for those of an input.
  PlaneSizes OutputOf(const PlaneSizes& planes) const {
    return {planes.samples, (planes.height + stride - 1) / stride,
            (planes.width + stride - 1) / stride};
  }
  bool by_tiles() const {
    return stride == 1 && in >= kPanelColumns && std::max(in, out) <= kMostTileChannels;
  }
};

// Rows of `row_size` floats that stay in the second cache, a multiple of the tallest tile's.
int64_t ConvolutionBlockRows(int64_t row_size);

// One sample inside a border of zeros: [height + 2, width + 2, channels].
int64_t BorderedSize(const PlaneSizes& planes, int64_t channels);
void AddBorder(const PlaneSizes& planes, int64_t channels, const float* x, float* bordered);

class PackedConvolution {
 public:
  // weight [out, in, 3, 3], contiguous; `backward`: [in, out, 3, 3] of a convolution of stride 1
  // whose gradients this one leads from its outputs to its inputs. Packed again, it allocates only
  // to grow.
  void Pack(const ConvolutionShape& shape, const float* weight, bool backward = false);

  void PackZeros(const ConvolutionShape& shape);
  // Bytes of such a convolution once packed.
  static int64_t Bytes(const ConvolutionShape& shape);

  const ConvolutionShape& shape() const { return shape_; }
  // Floats of scratch for one call of such a convolution with such planes.
  static int64_t ScratchSize(const ConvolutionShape& shape, const PlaneSizes& planes);
  int64_t scratch_size(const PlaneSizes& planes) const { return ScratchSize(shape_, planes); }
  // y, the planes of the output, from x, `planes` of the input. In the caller's thread.
  void Run(const PlaneSizes& planes, const float* x, float* y, float* scratch) const;

 private:
  void Resize(const ConvolutionShape& shape);
  void PackTransformed();
  void RunTiles(const PlaneSizes& planes, const float* x, float* y, float* scratch) const;
  void RunRows(const PlaneSizes& planes, const float* x, float* y, float* scratch) const;

  ConvolutionShape shape_;
  std::vector<PackedMatrix> matrices_;  // [36], or one
  std::vector<float> transformed_;      // weights on their way into the matrices
};

}  // namespace lzero

#endif  // LZERO_KERNELS_CONVOLUTION_PACKED_CONVOLUTION_H_
