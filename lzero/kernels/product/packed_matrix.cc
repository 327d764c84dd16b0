#include "lzero/kernels/product/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "lzero/base/check.h"
#include "lzero/kernels/product/product_kernels.h"

namespace lzero {
namespace {

int64_t NumPairs(int64_t in) { return (in + 1) / 2; }

}  // namespace

uint16_t ToBf16(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof(bits));
  if (std::isnan(value)) return static_cast<uint16_t>((bits >> 16) | 0x40u);
  bits += 0x7fffu + ((bits >> 16) & 1u);
  return static_cast<uint16_t>(bits >> 16);
}

PackedMatrix::PackedMatrix(int64_t in, int64_t out, WeightType type)
    : in_(in), out_(out), type_(type), bias_(PaddedSize(out)) {
  LZ_CHECK(in >= 1 && out >= 1, "a matrix of ", in, " to ", out);
  if (type == WeightType::kFp32) {
    panels_ = AlignedArray<float>(PaddedSize(out) * in);
  } else {
    half_panels_ = AlignedArray<uint16_t>(PaddedSize(out) * 2 * NumPairs(in));
  }
}

int64_t PackedMatrix::Bytes(int64_t in, int64_t out, WeightType type) {
  const int64_t padded = PaddedSize(out);
  const int64_t weights = type == WeightType::kFp32
                              ? padded * in * static_cast<int64_t>(sizeof(float))
                              : padded * 2 * NumPairs(in) * static_cast<int64_t>(sizeof(uint16_t));
  return weights + padded * static_cast<int64_t>(sizeof(float));
}

void PackedMatrix::Pack(const LinearWeights& layer, const NormWeights* norm) {
  LZ_CHECK(static_cast<int64_t>(layer.weight.size()) == in_ * out_ &&
               static_cast<int64_t>(layer.bias.size()) == out_,
           layer.weight.size(), " weights and ", layer.bias.size(), " biases for ", in_, " to ",
           out_);
  LZ_CHECK(norm == nullptr || (static_cast<int64_t>(norm->weight.size()) == in_ &&
                               static_cast<int64_t>(norm->bias.size()) == in_),
           "a norm of ", norm->weight.size(), " and ", norm->bias.size(), " for ", in_, " inputs");
  const int64_t pairs = NumPairs(in_);
  for (int64_t n = 0; n < out_; ++n) {
    const float* row = layer.weight.data() + n * in_;
    const int64_t panel = n / kPanelColumns, column = n % kPanelColumns;
    double bias = layer.bias[n];
    for (int64_t k = 0; k < in_; ++k) {
      float weight = row[k];
      if (norm != nullptr) {
        bias += static_cast<double>(weight) * norm->bias[k];
        weight *= norm->weight[k];
      }
      if (type_ == WeightType::kFp32) {
        panels_[(panel * in_ + k) * kPanelColumns + column] = weight;
      } else {
        half_panels_[((panel * pairs + k / 2) * kPanelColumns + column) * 2 + k % 2] =
            ToBf16(weight);
      }
    }
    bias_[n] = static_cast<float>(bias);
  }
}

void PackedMatrix::Pack(const MatrixView& b, int64_t in, int64_t out) {
  LZ_CHECK(in >= 1 && out >= 1 && type_ == WeightType::kFp32, "a matrix of ", in, " to ", out);
  in_ = in;
  out_ = out;
  const int64_t size = PaddedSize(out) * in;
  if (panels_.size() < size) panels_ = AlignedArray<float>(size);
  PackPanels(b, in, out, panels_.data());
}

}  // namespace lzero
