#include "lzero/kernels/convolution/packed_convolution.h"

#include <algorithm>
#include <cstring>

#include "lzero/kernels/product/matrix_product.h"

namespace lzero {
namespace {

constexpr int64_t kTallRows = 12;  // of the tallest tile of a product
constexpr int64_t kBlockFloats = int64_t{1}
                                 << 16;  // of a block's inputs: they stay in the second cache

// Too few for a call of memmove.
inline void CopyFew(const float* from, int64_t count, float* to) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) std::memcpy(to + i, from + i, 4 * sizeof(float));
  for (; i < count; ++i) to[i] = from[i];
}

}  // namespace

int64_t ConvolutionBlockRows(int64_t row_size) {
  return std::max(kTallRows, kBlockFloats / row_size / kTallRows * kTallRows);
}

int64_t TileScratchSize(const ConvolutionShape& shape) {
  const int64_t count = ConvolutionBlockRows(kTilePlaces * shape.in);
  return kTilePlaces * (PlaceStride(count * shape.in) + PlaceStride(count * shape.out));
}

void CopyCells(const ConvolutionShape& shape, const PlaneSizes& planes, const float* x,
               int64_t first, int64_t count, float* rows) {
  const int64_t in = shape.in;
  ForEachLine(shape, planes, first, count, [&](int64_t place, int64_t before, int64_t cells) {
    if (cells < 3) std::fill_n(rows, 3 * in, 0.0f);
    CopyFew(x + place * in, cells * in, rows + before * in);
    rows += 3 * in;
  });
}

void PackedConvolution::Pack(const ConvolutionShape& shape, const float* weight, bool backward) {
  shape_ = shape;
  const int64_t in = shape.in, out = shape.out, pairs = in * out;
  const int64_t places = shape.by_tiles() ? kTilePlaces : 9;
  transformed_.resize(static_cast<size_t>(places * pairs));
  if (matrices_.size() < static_cast<size_t>(places)) matrices_.resize(places);
  if (shape_.by_tiles()) {
    if (backward) {
      TransformWeights(weight, in, out, backward, transformed_.data());
    } else {
      TransformWeights(weight, out, in, backward, transformed_.data());
    }
    for (int64_t k = 0; k < kTilePlaces; ++k) {
      matrices_[k].Pack({transformed_.data() + k * pairs, out, 1}, in, out);
    }
    return;
  }
  for (int64_t pair = 0; pair < pairs; ++pair) {
    const int64_t o = backward ? pair % out : pair / in, i = backward ? pair / out : pair % in;
    for (int64_t k = 0; k < 9; ++k) {
      transformed_[(k * in + i) * out + o] = weight[pair * 9 + (backward ? 8 - k : k)];
    }
  }
  matrices_[0].Pack({transformed_.data(), out, 1}, 9 * in, out);
}

int64_t PackedConvolution::ScratchSize(const ConvolutionShape& shape) {
  if (!shape.by_tiles()) return ConvolutionBlockRows(9 * shape.in) * 9 * shape.in;
  return TileScratchSize(shape);
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
  const int64_t row_size = 9 * shape_.in, block = ConvolutionBlockRows(row_size), out = shape_.out;
  const int64_t cells = shape_.OutputOf(planes).cells();
  for (int64_t first = 0; first < cells; first += block) {
    const int64_t count = std::min(block, cells - first);
    CopyCells(shape_, planes, x, first, count, scratch);
    MultiplyRows({scratch, row_size, 1}, count, matrices_[0], nullptr, nullptr, y + first * out,
                 out);
  }
}

}  // namespace lzero
