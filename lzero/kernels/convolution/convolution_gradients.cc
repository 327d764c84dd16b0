#include "lzero/kernels/convolution/convolution_gradients.h"

#include <algorithm>

#include "lzero/kernels/product/matrix_product.h"

namespace lzero {
namespace {

// Calls body(place, before, cells) for the three lines around each of the output cells first to
// first + count - 1, in order: the line's first `before` cells lie left of the planes, then come
// `cells` from number `place` on of the planes; all lie outside where `cells` is 0.
template <class Body>
void ForEachLine(const ConvolutionShape& shape, const PlaneSizes& planes, int64_t first,
                 int64_t count, const Body& body) {
  const PlaneSizes output = shape.OutputOf(planes);
  for (int64_t cell = first; cell < first + count;) {
    const int64_t line = cell / output.width, sample = line / output.height;
    const int64_t row = line % output.height * shape.stride - 1;
    const int64_t end_of_line = std::min((line + 1) * output.width, first + count);
    for (; cell < end_of_line; ++cell) {
      const int64_t column = (cell - line * output.width) * shape.stride - 1;
      const int64_t begin = std::max<int64_t>(column, 0), end = std::min(column + 3, planes.width);
      for (int64_t y = row; y < row + 3; ++y) {
        const bool outside = y < 0 || y >= planes.height;
        body((sample * planes.height + y) * planes.width + begin, begin - column,
             outside ? 0 : end - begin);
      }
    }
  }
}

// Adds rows [count, 9, in] to the 3x3 cells of dx around the output cells first to first + count -
// 1.
void AddCells(const ConvolutionShape& shape, const PlaneSizes& planes, const float* rows,
              int64_t first, int64_t count, float* dx) {
  const int64_t in = shape.in;
  ForEachLine(shape, planes, first, count, [&](int64_t place, int64_t before, int64_t cells) {
    for (int64_t j = 0; j < cells * in; ++j) dx[place * in + j] += rows[before * in + j];
    rows += 3 * in;
  });
}

}  // namespace

void ConvolutionGradients::Pack(const ConvolutionShape& shape, const float* weight) {
  shape_ = shape;
  if (shape.stride == 1) return backward_.Pack({shape.out, shape.in, 1}, weight, /*backward=*/true);
  const int64_t in = shape_.in, out = shape_.out;
  turned_.resize(static_cast<size_t>(shape.weight_size()));
  for (int64_t pair = 0; pair < in * out; ++pair) {
    const int64_t o = pair / in, i = pair % in;
    for (int64_t k = 0; k < 9; ++k) turned_[(o * 9 + k) * in + i] = weight[pair * 9 + k];
  }
  rows_.Pack({turned_.data(), 9 * in, 1}, out, 9 * in);
}

int64_t ConvolutionGradients::scratch_size(const PlaneSizes& planes) const {
  const int64_t row_size = 9 * shape_.in;
  const int64_t inputs = shape_.stride == 1 ? backward_.scratch_size(planes)
                                            : ConvolutionBlockRows(row_size) * row_size;
  return std::max(inputs, PackedConvolution::ScratchSize(shape_, planes));
}

int64_t ConvolutionGradients::sums_size() const {
  return (shape_.by_tiles() ? kTilePlaces : 9) * shape_.in * shape_.out;
}

void ConvolutionGradients::RunInputs(const PlaneSizes& planes, const float* dy, float* dx,
                                     float* scratch) const {
  if (shape_.stride == 1) return backward_.Run(planes, dy, dx, scratch);
  const int64_t row_size = 9 * shape_.in, block = ConvolutionBlockRows(row_size);
  const int64_t cells = shape_.OutputOf(planes).cells();
  std::fill_n(dx, planes.cells() * shape_.in, 0.0f);
  for (int64_t first = 0; first < cells; first += block) {
    const int64_t count = std::min(block, cells - first);
    MultiplyRows({dy + first * shape_.out, shape_.out, 1}, count, rows_, nullptr, nullptr, scratch,
                 row_size);
    AddCells(shape_, planes, scratch, first, count, dx);
  }
}

void ConvolutionGradients::AddWeights(const PlaneSizes& planes, const float* x, const float* dy,
                                      float* sums, float* scratch) const {
  thread_local PackedMatrix packed;
  const int64_t in = shape_.in, out = shape_.out;
  if (!shape_.by_tiles()) {
    const PlaneSizes output = shape_.OutputOf(planes);
    const int64_t cells = output.height * output.width, line = (planes.width + 2) * in;
    const int64_t step = shape_.stride * in;
    for (int64_t sample = 0; sample < planes.samples; ++sample) {
      AddBorder(planes, in, x + sample * planes.height * planes.width * in, scratch);
      packed.Pack({dy + sample * cells * out, out, 1}, cells, out);
      for (int64_t row = 0; row < 3; ++row) {
        float* to = sums + row * 3 * in * out;
        MultiplyRows({scratch + row * line, 1, step}, 3 * in, packed, nullptr, to, to, out,
                     {output.width, shape_.stride * line - output.width * step});
      }
    }
    return;
  }
  const int64_t block = ConvolutionBlockRows(kTilePlaces * in);
  for (int64_t first = 0; first < planes.tiles(); first += block) {
    const int64_t count = std::min(block, planes.tiles() - first);
    const TileRange inputs = {planes, in, first, count}, outputs = {planes, out, first, count};
    float* gradients = scratch + kTilePlaces * inputs.place_stride();
    TransformInputs(inputs, x, scratch);
    TransformGradients(outputs, dy, gradients);
    for (int64_t k = 0; k < kTilePlaces; ++k) {
      AddTransposedProduct(scratch + k * inputs.place_stride(), in,
                           gradients + k * outputs.place_stride(), out, count, packed,
                           sums + k * in * out);
    }
  }
}

void ConvolutionGradients::FinishWeights(const float* sums, float* dweight) const {
  const int64_t in = shape_.in, out = shape_.out;
  if (shape_.by_tiles()) {
    std::fill_n(dweight, shape_.weight_size(), 0.0f);
    return AddWeightGradients(sums, out, in, dweight);
  }
  for (int64_t pair = 0; pair < in * out; ++pair) {
    const int64_t o = pair / in, i = pair % in;
    for (int64_t k = 0; k < 9; ++k) dweight[pair * 9 + k] = sums[(k * in + i) * out + o];
  }
}

}  // namespace lzero
