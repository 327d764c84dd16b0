#include "lzero/kernels/product/matrix_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/kernels/parallel.h"
#include "lzero/kernels/product/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::kLanes;
using simd::Load;
using simd::Store;

// A tile of C stays in registers: 12 rows of two registers use 24 of the 32 of AVX-512; the 16 of
// AVX2 hold 6 rows of two. A panel of B is as wide as the tile, so that it is read in order.
constexpr int64_t kDepthBlock = 256;   // of a panel: it stays in the first cache
constexpr int64_t kRowBlock = 96;      // of A: it stays in the second cache
constexpr int64_t kPartColumns = 512;  // of b, packed by one thread
constexpr int64_t kAlignment = 64;

struct TileTask {
  const float* a;
  int64_t row_stride;    // of a
  int64_t depth_stride;  // of a
  const float* panel;    // [depth, tile width]
  int64_t depth;
  float* out;
  int64_t out_stride;
  int64_t columns;      // of the tile that exist
  const float* addend;  // a row of it for each of the tile, in the distance of out; null: none
  const float* bias;    // one row for all; null: none
};

// A row of a whole tile. No calls in here or the compiler keeps the sums in memory.
template <int Bytes, int Registers>
LZ_INLINE void FinishRow(const TileTask& task, int row, const Floats<Bytes>* sums) {
  float* out = task.out + row * task.out_stride;
  const float* addend = task.addend == nullptr ? nullptr : task.addend + row * task.out_stride;
#pragma GCC unroll 2
  for (int j = 0; j < Registers; ++j) {
    const int64_t at = j * kLanes<Bytes>;
    Floats<Bytes> sum = sums[j];
    if (addend != nullptr) sum += Load<Bytes>(addend + at);
    if (task.bias != nullptr) sum += Load<Bytes>(task.bias + at);
    Store<Bytes>(sum, out + at);
  }
}

// A tile at the right border, from its sums [rows, width].
[[gnu::noinline]] void FinishPartialTile(const TileTask& task, int64_t rows, int64_t width,
                                         const float* sums) {
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t begin = row * task.out_stride;
    for (int64_t j = 0; j < task.columns; ++j) {
      float sum = sums[row * width + j];
      if (task.addend != nullptr) sum += task.addend[begin + j];
      if (task.bias != nullptr) sum += task.bias[j];
      task.out[begin + j] = sum;
    }
  }
}

// AlongRows: neighbours in memory are rows of a (its row stride is 1), else columns.
template <int Bytes, int Rows, int Registers, bool AlongRows>
LZ_INLINE void ComputeTile(const TileTask& task) {
  Floats<Bytes> sums[Rows][Registers];
#pragma GCC unroll 12
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int j = 0; j < Registers; ++j) sums[row][j] = Floats<Bytes>{};
  }
  // Four pointers and one stride address twelve rows without more registers.
  const int64_t stride = AlongRows ? 1 : task.row_stride;
  const int64_t step = AlongRows ? task.depth_stride : 1;
  const float* a[4];
  for (int i = 0; i < 4; ++i) a[i] = task.a + 3 * i * stride;
  const float* panel = task.panel;
  for (int64_t k = 0; k < task.depth; ++k) {
    Floats<Bytes> b[Registers];
#pragma GCC unroll 2
    for (int j = 0; j < Registers; ++j) b[j] = Load<Bytes>(panel + j * kLanes<Bytes>);
    panel += Registers * kLanes<Bytes>;
#pragma GCC unroll 12
    for (int row = 0; row < Rows; ++row) {
      const float x = a[row / 3][(row % 3) * stride];
#pragma GCC unroll 2
      for (int j = 0; j < Registers; ++j) sums[row][j] += x * b[j];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) a[i] += step;
  }
  constexpr int64_t kWidth = Registers * kLanes<Bytes>;
  if (task.columns == kWidth) {
#pragma GCC unroll 12
    for (int row = 0; row < Rows; ++row) FinishRow<Bytes, Registers>(task, row, sums[row]);
    return;
  }
  float values[Rows * kWidth];
#pragma GCC unroll 12
  for (int row = 0; row < Rows; ++row) {
#pragma GCC unroll 2
    for (int j = 0; j < Registers; ++j) {
      Store<Bytes>(sums[row][j], values + row * kWidth + j * kLanes<Bytes>);
    }
  }
  FinishPartialTile(task, Rows, kWidth, values);
}

template <int Rows, int Registers, bool AlongRows>
struct TileKernel {
  template <int Bytes>
  LZ_INLINE static void Run(const TileTask* task) {
    ComputeTile<Bytes, Rows, Registers, AlongRows>(*task);
  }
};

using TileFunction = void (*)(const TileTask*);

// Tiles of one instruction set: heights from tall to single rows, of one and of two registers.
struct TileSet {
  int64_t lanes;
  int64_t rows[4];
  TileFunction functions[4][2][2];  // [height][registers - 1][along rows]
};

#define LZ_TILES(RUN, ROWS)                               \
  {                                                       \
    {RUN<TileKernel<ROWS, 1, false>, const TileTask*>,    \
     RUN<TileKernel<ROWS, 1, true>, const TileTask*>},    \
    {                                                     \
      RUN<TileKernel<ROWS, 2, false>, const TileTask*>,   \
          RUN<TileKernel<ROWS, 2, true>, const TileTask*> \
    }                                                     \
  }
#define LZ_TILE_SET(LANES, RUN, TALL, HIGH, LOW)                                     \
  {                                                                                  \
    LANES, {TALL, HIGH, LOW, 1}, {                                                   \
      LZ_TILES(RUN, TALL), LZ_TILES(RUN, HIGH), LZ_TILES(RUN, LOW), LZ_TILES(RUN, 1) \
    }                                                                                \
  }

const TileSet& WidestTiles() {
  static const TileSet avx512 = LZ_TILE_SET(16, simd::RunAvx512, 12, 8, 4);
  static const TileSet avx2 = LZ_TILE_SET(8, simd::RunAvx2, 6, 4, 2);
  static const TileSet sse = LZ_TILE_SET(4, simd::RunSse, 6, 4, 2);
  const int bytes = simd::RegisterBytes();
  return bytes == 64 ? avx512 : bytes == 32 ? avx2 : sse;
}

// The columns of a panel: two registers, or one where no more columns exist.
int64_t PanelWidth(const TileSet& tiles, int64_t columns) {
  return columns > tiles.lanes ? 2 * tiles.lanes : tiles.lanes;
}

// Rows of b [depth, columns] that lie one after another, into panels of `depth` rows each: whole
// panels in whole registers.
struct PackRows {
  template <int Bytes>
  LZ_INLINE static void Run(const MatrixView* b, int64_t depth, int64_t columns, float* panels) {
    constexpr int64_t kWide = 2 * kLanes<Bytes>;
    const int64_t whole = columns - columns % kWide, rest = columns - whole;
    const int64_t width = rest > kLanes<Bytes> ? kWide : kLanes<Bytes>;
    for (int64_t k = 0; k < depth; ++k) {
      const float* row = b->values + k * b->row_stride;
      float* to = panels + k * kWide;
      for (int64_t column = 0; column < whole; column += kWide) {
        Store<Bytes>(Load<Bytes>(row + column), to + column * depth);
        Store<Bytes>(Load<Bytes>(row + column + kLanes<Bytes>),
                     to + column * depth + kLanes<Bytes>);
      }
      to = panels + whole * depth + k * width;
      for (int64_t j = 0; rest > 0 && j < width; ++j) to[j] = j < rest ? row[whole + j] : 0.0f;
    }
  }
};

// The same for columns of b that lie one after another, each a row of what is transposed.
struct PackColumns {
  template <int Bytes>
  LZ_INLINE static void Run(const MatrixView* b, int64_t depth, int64_t columns, float* panels) {
    constexpr int64_t kSquare = kLanes<Bytes>, kWide = 2 * kSquare;
    for (int64_t column = 0; column < columns; column += kSquare) {
      const int64_t count = columns - column < kSquare ? columns - column : kSquare;
      const int64_t first = column - column % kWide;  // of the panel
      const int64_t width = columns - first > kSquare ? kWide : kSquare;
      const float* from = b->values + column * b->column_stride;
      float* to = panels + first * depth + column - first;
      int64_t k = 0;
      for (; count == kSquare && k + kSquare <= depth; k += kSquare) {
        PackSquare<Bytes>(from + k, b->column_stride, to + k * width, width);
      }
      for (; k < depth; ++k) {
        for (int64_t j = 0; j < kSquare; ++j) {
          to[k * width + j] = j < count ? from[j * b->column_stride + k] : 0.0f;
        }
      }
    }
  }

  template <int Bytes>
  LZ_INLINE static void PackSquare(const float* from, int64_t stride, float* to, int64_t width) {
    Floats<Bytes> rows[kLanes<Bytes>];
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<Bytes>; ++i) rows[i] = Load<Bytes>(from + i * stride);
    simd::Transpose<Bytes>(rows);
#pragma GCC unroll 16
    for (int i = 0; i < kLanes<Bytes>; ++i) Store<Bytes>(rows[i], to + i * width);
  }
};

// Rows of the product with one block of depths of b.
void MultiplyBlock(const TileSet& tiles, const PanelMatrix& b, int64_t first_depth, int64_t depth,
                   const MatrixView& a, int64_t rows, TileTask task, float* out) {
  const int64_t wide = 2 * tiles.lanes;
  const bool along_rows = a.column_stride != 1;
  const float* addend = task.addend;
  const float* bias = task.bias;
  task.row_stride = a.row_stride;
  task.depth_stride = a.column_stride;
  task.depth = depth;
  for (int64_t begin = 0; begin < rows; begin += kRowBlock) {
    const int64_t end = std::min(rows, begin + kRowBlock);
    for (int64_t column = 0; column < b.columns(); column += wide) {
      task.columns = std::min(wide, b.columns() - column);
      task.panel = b.Panel(first_depth, column);
      task.bias = bias == nullptr ? nullptr : bias + column;
      const int registers = task.columns > tiles.lanes ? 2 : 1;
      for (int64_t row = begin; row < end;) {
        int height = 0;
        while (tiles.rows[height] > end - row) ++height;
        const int64_t at = row * task.out_stride + column;
        task.a = a.values + row * a.row_stride;
        task.out = out + at;
        task.addend = addend == nullptr ? nullptr : addend + at;
        tiles.functions[height][registers - 1][along_rows ? 1 : 0](&task);
        row += tiles.rows[height];
      }
    }
  }
}

struct ColumnSums {
  template <int Bytes>
  LZ_INLINE static void Run(const float* values, int64_t rows, int64_t columns, float* out) {
    const int64_t whole = columns - columns % kLanes<Bytes>;
    // Four rows at a time, so that the sums are read and written more rarely.
    for (int64_t row = 0; row < rows; row += 4) {
      const float* first = values + row * columns;
      const int64_t step = columns, count = rows - row;
      if (count < 4) {
        for (int64_t i = 0; i < count; ++i) AddRow<Bytes>(first + i * step, columns, out);
        continue;
      }
      for (int64_t j = 0; j < whole; j += kLanes<Bytes>) {
        const Floats<Bytes> two = Load<Bytes>(first + j) + Load<Bytes>(first + step + j);
        const Floats<Bytes> more =
            Load<Bytes>(first + 2 * step + j) + Load<Bytes>(first + 3 * step + j);
        Store<Bytes>(Load<Bytes>(out + j) + (two + more), out + j);
      }
      for (int64_t j = whole; j < columns; ++j) {
        out[j] += (first[j] + first[step + j]) + (first[2 * step + j] + first[3 * step + j]);
      }
    }
  }

  template <int Bytes>
  LZ_INLINE static void AddRow(const float* row, int64_t columns, float* out) {
    for (int64_t j = 0; j < columns; ++j) out[j] += row[j];
  }
};

}  // namespace

void PanelMatrix::Pack(const MatrixView& b, int64_t depth, int64_t columns) {
  const TileSet& tiles = WidestTiles();
  depth_ = depth;
  columns_ = columns;
  const int64_t last = columns % (2 * tiles.lanes);
  padded_columns_ = columns - last + (last > 0 ? PanelWidth(tiles, last) : 0);
  const size_t size = static_cast<size_t>(depth * padded_columns_) + kAlignment / sizeof(float);
  if (storage_.size() < size) storage_.resize(size);
  void* begin = storage_.data();
  size_t space = storage_.size() * sizeof(float);
  panels_ = static_cast<float*>(std::align(kAlignment, 1, begin, space));
  for (int64_t k = 0; k < depth; k += kDepthBlock) {
    const MatrixView part = {b.values + k * b.row_stride, b.row_stride, b.column_stride};
    const int64_t count = std::min(kDepthBlock, depth - k);
    if (b.column_stride == 1) {
      simd::RunWidest<PackRows>(&part, count, columns, panels_ + k * padded_columns_);
    } else {
      simd::RunWidest<PackColumns>(&part, count, columns, panels_ + k * padded_columns_);
    }
  }
}

const float* PanelMatrix::Panel(int64_t first_depth, int64_t column) const {
  return panels_ + first_depth * padded_columns_ +
         column * std::min(kDepthBlock, depth_ - first_depth);
}

void MultiplyRows(const MatrixView& a, int64_t rows, const PanelMatrix& b, const float* bias,
                  const float* addend, float* out, int64_t out_stride) {
  LZ_CHECK(b.depth() > 0, "a product of depth ", b.depth());
  const TileSet& tiles = WidestTiles();
  for (int64_t k = 0; k < b.depth(); k += kDepthBlock) {
    TileTask task = {};
    task.out_stride = out_stride;
    // The first block adds to the addend and the bias, later ones to what is there.
    task.addend = k > 0 ? out : addend;
    task.bias = k > 0 ? nullptr : bias;
    MultiplyBlock(tiles, b, k, std::min(kDepthBlock, b.depth() - k),
                  {a.values + k * a.column_stride, a.row_stride, a.column_stride}, rows, task, out);
  }
}

void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out) {
  thread_local std::vector<PanelMatrix> kept_parts;
  const int64_t tall = WidestTiles().rows[0];
  const int64_t num_tiles = (size.rows + tall - 1) / tall;
  // A deep product packs a part of b, multiplies with it while it is in the cache, and goes on.
  const int64_t deepest = b.column_stride == 1 ? kDepthBlock : size.depth;
  for (int64_t k = 0; k < size.depth; k += deepest) {
    const int64_t depth = std::min(deepest, size.depth - k);
    // Parts of columns, so that threads share the packing; a part is whole panels.
    const int64_t num_parts = (size.columns + kPartColumns - 1) / kPartColumns;
    if (static_cast<int64_t>(kept_parts.size()) < num_parts) kept_parts.resize(num_parts);
    std::vector<PanelMatrix>& parts = kept_parts;
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
      const int64_t first = begin * tall, last = std::min(end * tall, size.rows);
      const MatrixView rows = {a.values + first * a.row_stride + k * a.column_stride, a.row_stride,
                               a.column_stride};
      for (int64_t i = 0; i < num_parts; ++i) {
        const int64_t at = first * size.columns + i * kPartColumns;
        MultiplyRows(rows, last - first, parts[i],
                     first_bias == nullptr ? nullptr : first_bias + i * kPartColumns,
                     start == nullptr ? nullptr : start + at, out + at, size.columns);
      }
    });
  }
}

void AddTransposedProduct(const float* a, int64_t rows, const float* b, int64_t columns,
                          int64_t depth, PanelMatrix& packed, float* to) {
  packed.Pack({b, columns, 1}, depth, columns);
  MultiplyRows({a, 1, rows}, rows, packed, nullptr, to, to, columns);
}

void AddColumnSums(const float* values, int64_t rows, int64_t columns, float* sums) {
  simd::RunWidest<ColumnSums>(values, rows, columns, sums);
}

}  // namespace lzero
