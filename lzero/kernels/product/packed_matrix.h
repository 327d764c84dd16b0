// A matrix in the order in which products read it: panels of 16 output columns, each panel
// [in][16], so that a product streams through memory once. Search packs the weights of a linear
// layer, the norm before it folded in: only (x - mean) / deviation is left to compute. The learner
// packs any matrix for one call. Not a kernel. Packing a layer again writes the same addresses.
// Belongs to one thread while it is written.
//
//   panel 0: w[0..15][0]  w[0..15][1] ... w[0..15][in-1]     panel 1: w[16..31][0] ...
#ifndef LZERO_KERNELS_PRODUCT_PACKED_MATRIX_H_
#define LZERO_KERNELS_PRODUCT_PACKED_MATRIX_H_

#include <cstdint>

#include "absl/types/span.h"
#include "lzero/kernels/product/aligned_array.h"

namespace lzero {

inline constexpr int64_t kPanelColumns = 16;

// `count` rounded up to whole panels: the distance of two rows of any array the kernels work on.
constexpr int64_t PaddedSize(int64_t count) {
  return (count + kPanelColumns - 1) / kPanelColumns * kPanelColumns;
}

// How weights are kept; sums are fp32 in both.
enum class WeightType { kFp32, kBf16 };

// y = x W^T + b as PyTorch stores it.
struct LinearWeights {
  absl::Span<const float> weight;  // [out, in]
  absl::Span<const float> bias;    // [out]
};

// Weight and bias of a LayerNorm, both [size].
struct NormWeights {
  absl::Span<const float> weight;
  absl::Span<const float> bias;
};

// Element (i, j) is values[i * row_stride + j * column_stride]; one of the strides is 1.
struct MatrixView {
  const float* values = nullptr;
  int64_t row_stride = 0;
  int64_t column_stride = 1;

  MatrixView Transposed() const { return {values, column_stride, row_stride}; }
};

class PackedMatrix {
 public:
  // Has fp32 weights and no size until Pack gives it one.
  PackedMatrix() = default;
  // Zeros, in and out >= 1.
  PackedMatrix(int64_t in, int64_t out, WeightType type);

  // Bytes of such a matrix.
  static int64_t Bytes(int64_t in, int64_t out, WeightType type);

  // Copies weights in; sizes must be those of the constructor. With `norm`, its weight and bias
  // [in] are folded in: the layer then expects an input that was normalised only.
  void Pack(const LinearWeights& layer, const NormWeights* norm);
  // Takes the size and the numbers of b [in, out], without a bias. Packed again, it allocates only
  // to grow. kFp32 only.
  void Pack(const MatrixView& b, int64_t in, int64_t out);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t num_panels() const { return PaddedSize(out_) / kPanelColumns; }
  WeightType type() const { return type_; }
  // Bytes of all panels: what one product reads.
  int64_t panel_bytes() const { return panels_.bytes() + half_panels_.bytes(); }
  const float* bias() const { return bias_.data(); }  // [16 * num_panels], zeros after out
  // kFp32: [num_panels, in, 16].
  const float* panels() const { return panels_.data(); }
  // kBf16: [num_panels, (in + 1) / 2, 16, 2], an odd `in` padded with zeros.
  const uint16_t* half_panels() const { return half_panels_.data(); }

 private:
  int64_t in_ = 0;
  int64_t out_ = 0;
  WeightType type_ = WeightType::kFp32;
  AlignedArray<float> bias_;
  AlignedArray<float> panels_;
  AlignedArray<uint16_t> half_panels_;
};

// The bf16 number nearest to `value`, ties to even; NaN stays NaN.
uint16_t ToBf16(float value);

}  // namespace lzero

#endif  // LZERO_KERNELS_PRODUCT_PACKED_MATRIX_H_
