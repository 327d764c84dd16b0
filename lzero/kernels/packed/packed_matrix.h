// The weights of one linear layer in the order in which the kernels read them: panels of 16 output
// columns, each panel [in][16], so that a product streams through memory once. A norm before the
// layer is folded in: only (x - mean) / deviation is left to compute. Not a kernel. Packing again
// writes the same addresses. Belongs to one thread while it is written.
//
//   panel 0: w[0..15][0]  w[0..15][1] ... w[0..15][in-1]     panel 1: w[16..31][0] ...
#ifndef LZERO_KERNELS_PACKED_PACKED_MATRIX_H_
#define LZERO_KERNELS_PACKED_PACKED_MATRIX_H_

#include <cstdint>

#include "absl/types/span.h"
#include "lzero/kernels/packed/aligned_array.h"

namespace lzero::packed {

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

// Scale and shift of a LayerNorm, both [size].
struct NormWeights {
  absl::Span<const float> scale;
  absl::Span<const float> shift;
};

class PackedMatrix {
 public:
  // Zeros, in and out >= 1.
  PackedMatrix(int64_t in, int64_t out, WeightType type);

  // Bytes of such a matrix.
  static int64_t Bytes(int64_t in, int64_t out, WeightType type);

  // Copies weights in; sizes must be those of the constructor. With `norm`, its scale and shift
  // [in] are folded in: the layer then expects an input that was normalised only.
  void Pack(const LinearWeights& layer, const NormWeights* norm);

  int64_t in() const { return in_; }
  int64_t out() const { return out_; }
  int64_t num_panels() const { return PaddedSize(out_) / kPanelColumns; }
  WeightType type() const { return type_; }
  // Of all panels: what one product reads.
  int64_t panel_bytes() const { return panels_.bytes() + half_panels_.bytes(); }
  const float* bias() const { return bias_.data(); }  // [16 * num_panels], zeros after out
  // kFp32: [num_panels, in, 16].
  const float* panels() const { return panels_.data(); }
  // kBf16: [num_panels, (in + 1) / 2, 16, 2], an odd `in` padded with zeros.
  const uint16_t* half_panels() const { return half_panels_.data(); }

 private:
  int64_t in_;
  int64_t out_;
  WeightType type_;
  AlignedArray<float> bias_;
  AlignedArray<float> panels_;
  AlignedArray<uint16_t> half_panels_;
};

// The bf16 number nearest to `value`, ties to even; NaN stays NaN.
uint16_t ToBf16(float value);

}  // namespace lzero::packed

#endif  // LZERO_KERNELS_PACKED_PACKED_MATRIX_H_
