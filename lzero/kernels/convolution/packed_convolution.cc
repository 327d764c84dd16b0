#include "lzero/kernels/convolution/packed_convolution.h"

#include <algorithm>

#include "lzero/kernels/product/matrix_product.h"

namespace lzero {
namespace {

constexpr int64_t kTallRows = 12;  // of the tallest tile of a product
constexpr int64_t kBlockFloats = int64_t{1}
                                 << 16;  // of a block's inputs: they stay in the second cache

}  // namespace

int64_t ConvolutionBlockRows(int64_t row_size) {
  return std::max(kTallRows, kBlockFloats / row_size / kTallRows * kTallRows);
}

int64_t BorderedSize(const PlaneSizes& planes, int64_t channels) {
  return (planes.height + 2) * (planes.width + 2) * channels;
}

void AddBorder(const PlaneSizes& planes, int64_t channels, const float* x, float* bordered) {
  const int64_t line = planes.width * channels;
  // The border lies in runs: above with the first cell, between lines, below with the last cell.
  float* to = std::fill_n(bordered, line + 3 * channels, 0.0f);
  for (int64_t row = 0; row < planes.height; ++row) {
    to = std::copy_n(x + row * line, line, to);
    to = std::fill_n(to, 2 * channels, 0.0f);
  }
  std::fill_n(to, line + channels, 0.0f);
}

void PackedConvolution::Resize(const ConvolutionShape& shape) {
  shape_ = shape;
  const int64_t places = shape.by_tiles() ? kTilePlaces : 9;
  transformed_.resize(static_cast<size_t>(places * shape.in * shape.out));
  const size_t num_matrices = shape.by_tiles() ? kTilePlaces : 1;
  if (matrices_.size() < num_matrices) matrices_.resize(num_matrices);
}

void PackedConvolution::PackTransformed() {
  const int64_t in = shape_.in, out = shape_.out;
  if (!shape_.by_tiles()) return matrices_[0].Pack({transformed_.data(), out, 1}, 9 * in, out);
  for (int64_t k = 0; k < kTilePlaces; ++k) {
    matrices_[k].Pack({transformed_.data() + k * in * out, out, 1}, in, out);
  }
}

void PackedConvolution::PackZeros(const ConvolutionShape& shape) {
  Resize(shape);
  std::fill(transformed_.begin(), transformed_.end(), 0.0f);
  PackTransformed();
}

void PackedConvolution::Pack(const ConvolutionShape& shape, const float* weight, bool backward) {
  Resize(shape);
  const int64_t in = shape.in, out = shape.out;
  if (shape.by_tiles() && backward) {
    TransformWeights(weight, in, out, backward, transformed_.data());
  } else if (shape.by_tiles()) {
    TransformWeights(weight, out, in, backward, transformed_.data());
  } else {
    for (int64_t pair = 0; pair < in * out; ++pair) {
      const int64_t o = backward ? pair % out : pair / in, i = backward ? pair / out : pair % in;
      for (int64_t k = 0; k < 9; ++k) {
        transformed_[(k * in + i) * out + o] = weight[pair * 9 + (backward ? 8 - k : k)];
      }
    }
  }
  PackTransformed();
}

int64_t PackedConvolution::Bytes(const ConvolutionShape& shape) {
  const int64_t places = shape.by_tiles() ? kTilePlaces : 9;
  const int64_t floats = places * shape.in * (PaddedSize(shape.out) + shape.out);
  return floats * static_cast<int64_t>(sizeof(float)) +
         (shape.by_tiles() ? kTilePlaces : 1) * static_cast<int64_t>(sizeof(PackedMatrix));
}

int64_t PackedConvolution::ScratchSize(const ConvolutionShape& shape, const PlaneSizes& planes) {
  if (!shape.by_tiles()) return BorderedSize(planes, shape.in);
  const int64_t count = ConvolutionBlockRows(kTilePlaces * shape.in);
  return kTilePlaces * (PlaceStride(count * shape.in) + PlaceStride(count * shape.out));
}

void PackedConvolution::Run(const PlaneSizes& planes, const float* x, float* y,
                            float* scratch) const {
  return shape_.by_tiles() ? RunTiles(planes, x, y, scratch) : RunRows(planes, x, y, scratch);
}

void PackedConvolution::RunTiles(const PlaneSizes& planes, const float* x, float* y,
                                 float* scratch) const {
  const int64_t block = ConvolutionBlockRows(kTilePlaces * shape_.in), in = shape_.in,
                out = shape_.out;
  for (int64_t first = 0; first < planes.tiles(); first += block) {
    const int64_t count = std::min(block, planes.tiles() - first);
    const TileRange from = {planes, in, first, count}, to = {planes, out, first, count};
    float* outputs = scratch + kTilePlaces * from.place_stride();
    TransformInputs(from, x, scratch);
    for (int64_t k = 0; k < kTilePlaces; ++k) {
      MultiplyRows({scratch + k * from.place_stride(), in, 1}, count, matrices_[k], nullptr,
                   nullptr, outputs + k * to.place_stride(), out);
    }
    TransformOutputs(to, outputs, y);
  }
}

void PackedConvolution::RunRows(const PlaneSizes& planes, const float* x, float* y,
                                float* scratch) const {
  const PlaneSizes output = shape_.OutputOf(planes);
  const int64_t in = shape_.in, line = (planes.width + 2) * in;
  for (int64_t sample = 0; sample < planes.samples; ++sample) {
    AddBorder(planes, in, x + sample * planes.height * planes.width * in, scratch);
    for (int64_t row = 0; row < output.height; ++row) {
      MultiplyRows({scratch + row * shape_.stride * line, shape_.stride * in, 1}, output.width,
                   matrices_[0], nullptr, nullptr, y, shape_.out, {3 * in, line - 3 * in});
      y += output.width * shape_.out;
    }
  }
}

}  // namespace lzero
