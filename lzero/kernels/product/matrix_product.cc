#include "lzero/kernels/product/matrix_product.h"

#include <algorithm>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/product/tiling.h"

namespace lzero {
namespace {

constexpr int64_t kPartColumns = 512;  // of b, packed by one thread
constexpr int64_t kTallRows = 12;      // of the tallest tile

// Columns of a that lie far apart push each other out of the caches: a block of its rows, one
// column after another in memory that stays for the next call.
MatrixView GatherColumns(const MatrixView& a, int64_t rows, int64_t depth) {
  thread_local std::vector<float> kept;
  kept.resize(static_cast<size_t>(kRowBlock * depth));
  for (int64_t k = 0; k < depth; ++k) {
    std::copy_n(a.values + k * a.column_stride, rows, kept.data() + k * kRowBlock);
  }
  return {kept.data(), 1, kRowBlock};
}

}  // namespace

void MultiplyRows(const MatrixView& a, int64_t rows, const PackedMatrix& b, const float* bias,
                  const float* addend, float* out, int64_t out_stride, Segments segments) {
  LZ_CHECK(b.in() > 0, "a product of depth ", b.in());
  ProductCall call;
  call.matrix = &b;
  call.x = a.values;
  call.x_stride = a.row_stride;
  call.x_step = a.column_stride;
  call.x_segment = segments.size;
  call.x_jump = segments.jump;
  call.y = out;
  call.y_stride = out_stride;
  call.num_rows = rows;
  call.end_panel = b.num_panels();
  call.columns = b.out();
  call.bias = bias;
  call.addend = addend;
  RunProduct(call);
}

void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out) {
  thread_local std::vector<PackedMatrix> kept_parts;
  const int64_t num_tiles = (size.rows + kTallRows - 1) / kTallRows;
  // A deep product packs a part of b, multiplies with it while it is in the cache, and goes on.
  const int64_t deepest = b.column_stride == 1 ? kDepthBlock : size.depth;
  for (int64_t k = 0; k < size.depth; k += deepest) {
    const int64_t depth = std::min(deepest, size.depth - k);
    // Parts of columns, so that threads share the packing; a part is whole panels.
    const int64_t num_parts = (size.columns + kPartColumns - 1) / kPartColumns;
    if (static_cast<int64_t>(kept_parts.size()) < num_parts) kept_parts.resize(num_parts);
    std::vector<PackedMatrix>& parts = kept_parts;
    ParallelFor(0, num_parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const float* values = b.values + k * b.row_stride + i * kPartColumns * b.column_stride;
        parts[i].Pack({values, b.row_stride, b.column_stride}, depth,
                      std::min(kPartColumns, size.columns - i * kPartColumns));
      }
    });
    const float* start = k > 0 ? out : addend;
    const float* first_bias = k > 0 ? nullptr : bias;
    // Threads take whole tall tiles: every number is computed in the same way in any of them.
    ParallelFor(0, num_tiles, 4, [&](int64_t begin, int64_t end) {
      const int64_t last = std::min(end * kTallRows, size.rows);
      const int64_t block = a.column_stride == 1 ? last - begin * kTallRows : kRowBlock;
      for (int64_t first = begin * kTallRows; first < last; first += block) {
        const int64_t count = std::min(block, last - first);
        MatrixView rows = {a.values + first * a.row_stride + k * a.column_stride, a.row_stride,
                           a.column_stride};
        if (a.column_stride != 1) rows = GatherColumns(rows, count, depth);
        for (int64_t i = 0; i < num_parts; ++i) {
          const int64_t at = first * size.columns + i * kPartColumns;
          MultiplyRows(rows, count, parts[i],
                       first_bias == nullptr ? nullptr : first_bias + i * kPartColumns,
                       start == nullptr ? nullptr : start + at, out + at, size.columns);
        }
      }
    });
  }
}

void AddTransposedProduct(const float* a, int64_t rows, const float* b, int64_t columns,
                          int64_t depth, PackedMatrix& packed, float* to) {
  packed.Pack({b, columns, 1}, depth, columns);
  MultiplyRows({a, 1, rows}, rows, packed, nullptr, to, to, columns);
}

}  // namespace lzero
