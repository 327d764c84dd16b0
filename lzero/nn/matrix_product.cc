#include "lzero/nn/matrix_product.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "ATen/Parallel.h"
#include "lzero/base/check.h"
#include "lzero/nn/vector_math.h"

namespace lzero {
namespace {

using simd::Floats;
using simd::kLanes;
using simd::Load;
using simd::Store;

// A tile of C stays in registers: 12 rows of two registers use 24 of the 32 of AVX-512; the 16 of
// AVX2 hold 6 rows of two. A panel of B is as wide as the tile, so that it is read in order.
constexpr int64_t kDepthBlock = 256;    // of a panel: it stays in the first cache
constexpr int64_t kRowBlock = 96;       // of A: it stays in the second cache
constexpr int64_t kColumnBlock = 1024;  // of all panels together
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
template <int Bytes, int kRegisters>
LZ_INLINE void FinishRow(const TileTask& task, int row, const Floats<Bytes>* sums) {
  float* out = task.out + row * task.out_stride;
  const float* addend = task.addend == nullptr ? nullptr : task.addend + row * task.out_stride;
#pragma GCC unroll 2
  for (int j = 0; j < kRegisters; ++j) {
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

// kAlongRows: neighbours in memory are rows of a (its row stride is 1), else columns.
template <int Bytes, int kRows, int kRegisters, bool kAlongRows>
LZ_INLINE void ComputeTile(const TileTask& task) {
  Floats<Bytes> sums[kRows][kRegisters];
#pragma GCC unroll 12
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int j = 0; j < kRegisters; ++j) sums[row][j] = Floats<Bytes>{};
  }
  // Four pointers and one stride address twelve rows without more registers.
  const int64_t stride = kAlongRows ? 1 : task.row_stride;
  const int64_t step = kAlongRows ? task.depth_stride : 1;
  const float* a[4];
  for (int i = 0; i < 4; ++i) a[i] = task.a + 3 * i * stride;
  const float* panel = task.panel;
  for (int64_t k = 0; k < task.depth; ++k) {
    Floats<Bytes> b[kRegisters];
#pragma GCC unroll 2
    for (int j = 0; j < kRegisters; ++j) b[j] = Load<Bytes>(panel + j * kLanes<Bytes>);
    panel += kRegisters * kLanes<Bytes>;
#pragma GCC unroll 12
    for (int row = 0; row < kRows; ++row) {
      const float x = a[row / 3][(row % 3) * stride];
#pragma GCC unroll 2
      for (int j = 0; j < kRegisters; ++j) sums[row][j] += x * b[j];
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) a[i] += step;
  }
  constexpr int64_t kWidth = kRegisters * kLanes<Bytes>;
  if (task.columns == kWidth) {
#pragma GCC unroll 12
    for (int row = 0; row < kRows; ++row) FinishRow<Bytes, kRegisters>(task, row, sums[row]);
    return;
  }
  float values[kRows * kWidth];
#pragma GCC unroll 12
  for (int row = 0; row < kRows; ++row) {
#pragma GCC unroll 2
    for (int j = 0; j < kRegisters; ++j) {
      Store<Bytes>(sums[row][j], values + row * kWidth + j * kLanes<Bytes>);
    }
  }
  FinishPartialTile(task, kRows, kWidth, values);
}

template <int kRows, int kRegisters, bool kAlongRows>
struct TileKernel {
  template <int Bytes>
  LZ_INLINE static void Run(const TileTask* task) {
    ComputeTile<Bytes, kRows, kRegisters, kAlongRows>(*task);
  }
};

using TileFunction = void (*)(const TileTask*);

// Tiles of one instruction set: heights from tall to single rows, of one and of two registers.
struct TileSet {
  int64_t lanes;
  int64_t rows[3];
  TileFunction functions[3][2][2];  // [height][registers - 1][along rows]
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
#define LZ_TILE_SET(LANES, RUN, TALL)                                                \
  {                                                                                  \
    LANES, {TALL, 3, 1}, { LZ_TILES(RUN, TALL), LZ_TILES(RUN, 3), LZ_TILES(RUN, 1) } \
  }

const TileSet& WidestTiles() {
  static const TileSet avx512 = LZ_TILE_SET(16, simd::RunAvx512, 12);
  static const TileSet avx2 = LZ_TILE_SET(8, simd::RunAvx2, 6);
  static const TileSet sse = LZ_TILE_SET(4, simd::RunSse, 6);
  const int bytes = simd::RegisterBytes();
  return bytes == 64 ? avx512 : bytes == 32 ? avx2 : sse;
}

// Floats that stay with their thread, aligned to a cache line.
float* Scratch(int64_t count) {
  thread_local std::vector<float> storage;
  const size_t padded = static_cast<size_t>(count) + kAlignment / sizeof(float);
  if (storage.size() < padded) storage.resize(padded);
  void* begin = storage.data();
  size_t space = storage.size() * sizeof(float);
  return static_cast<float*>(std::align(kAlignment, 1, begin, space));
}

// b [depth, width] -> panel [depth, padded width], zeros behind the columns that exist.
void PackPanel(const MatrixView& b, int64_t depth, int64_t width, int64_t padded, float* panel) {
  if (width < padded) std::fill_n(panel, depth * padded, 0.0f);
  if (b.column_stride == 1 && width % kLanes<16> == 0) {
    for (int64_t k = 0; k < depth; ++k) {
      const float* row = b.values + k * b.row_stride;
      for (int64_t j = 0; j < width; j += kLanes<16>) {
        Store<16>(Load<16>(row + j), panel + k * padded + j);
      }
    }
    return;
  }
  if (b.column_stride == 1) {
    const size_t bytes = static_cast<size_t>(width) * sizeof(float);
    for (int64_t k = 0; k < depth; ++k) {
      std::memcpy(panel + k * padded, b.values + k * b.row_stride, bytes);
    }
    return;
  }
  for (int64_t j = 0; j < width; ++j) {
    const float* column = b.values + j * b.column_stride;
    for (int64_t k = 0; k < depth; ++k) panel[k * padded + j] = column[k * b.row_stride];
  }
}

// One block of B, packed, and where its product goes.
struct BlockTask {
  const float* panels;
  int64_t depth;
  int64_t columns;
  MatrixView a;  // from the block's first depth on
  float* out;    // from the block's first column on
  int64_t out_stride;
  const float* addend;
  const float* bias;
};

// Rows first .. last - 1 of the product with one block.
void MultiplyRows(const TileSet& tiles, const BlockTask& block, int64_t first, int64_t last) {
  const int64_t wide = 2 * tiles.lanes;
  const bool along_rows = block.a.column_stride != 1;
  TileTask task = {};
  task.row_stride = block.a.row_stride;
  task.depth_stride = block.a.column_stride;
  task.depth = block.depth;
  task.out_stride = block.out_stride;
  for (int64_t begin = first; begin < last; begin += kRowBlock) {
    const int64_t end = std::min(last, begin + kRowBlock);
    for (int64_t column = 0; column < block.columns; column += wide) {
      task.columns = std::min(wide, block.columns - column);
      task.panel = block.panels + column * kDepthBlock;
      task.bias = block.bias == nullptr ? nullptr : block.bias + column;
      const int registers = task.columns > tiles.lanes ? 2 : 1;
      for (int64_t row = begin; row < end;) {
        int height = 0;
        while (tiles.rows[height] > end - row) ++height;
        task.a = block.a.values + row * block.a.row_stride;
        task.out = block.out + row * block.out_stride + column;
        task.addend =
            block.addend == nullptr ? nullptr : block.addend + row * block.out_stride + column;
        tiles.functions[height][registers - 1][along_rows ? 1 : 0](&task);
        row += tiles.rows[height];
      }
    }
  }
}

void PackBlock(const TileSet& tiles, const MatrixView& b, int64_t depth, int64_t columns,
               float* panels) {
  const int64_t wide = 2 * tiles.lanes;
  at::parallel_for(0, (columns + wide - 1) / wide, 8, [&](int64_t begin, int64_t end) {
    for (int64_t column = begin * wide; column < std::min(end * wide, columns); column += wide) {
      const int64_t width = std::min(wide, columns - column);
      const MatrixView part = {b.values + column * b.column_stride, b.row_stride, b.column_stride};
      PackPanel(part, depth, width, width > tiles.lanes ? wide : tiles.lanes,
                panels + column * kDepthBlock);
    }
  });
}

struct ColumnSums {
  template <int Bytes>
  LZ_INLINE static void Run(const float* values, int64_t rows, int64_t columns, float* out) {
    const int64_t whole = columns - columns % kLanes<Bytes>;
    std::memset(out, 0, static_cast<size_t>(columns) * sizeof(float));
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

void MultiplyMatrices(const ProductSize& size, const MatrixView& a, const MatrixView& b,
                      const float* bias, const float* addend, float* out) {
  LZ_CHECK(size.depth > 0, "a product of depth ", size.depth);
  const TileSet& tiles = WidestTiles();
  const int64_t tall = tiles.rows[0];
  float* const panels = Scratch(kDepthBlock * (std::min(size.columns, kColumnBlock) + 64));
  for (int64_t column = 0; column < size.columns; column += kColumnBlock) {
    for (int64_t k = 0; k < size.depth; k += kDepthBlock) {
      BlockTask block;
      block.panels = panels;
      block.depth = std::min(kDepthBlock, size.depth - k);
      block.columns = std::min(kColumnBlock, size.columns - column);
      block.a = {a.values + k * a.column_stride, a.row_stride, a.column_stride};
      block.out = out + column;
      block.out_stride = size.columns;
      // The first block adds to the addend and the bias, later ones to what is there.
      block.addend = k > 0 ? block.out : addend == nullptr ? nullptr : addend + column;
      block.bias = k > 0 || bias == nullptr ? nullptr : bias + column;
      PackBlock(
          tiles,
          {b.values + k * b.row_stride + column * b.column_stride, b.row_stride, b.column_stride},
          block.depth, block.columns, panels);
      // Parts of whole tall tiles: every number is computed in the same way however they are split.
      const int64_t num_tiles = (size.rows + tall - 1) / tall;
      at::parallel_for(0, num_tiles, 4, [&](int64_t begin, int64_t end) {
        MultiplyRows(tiles, block, begin * tall, std::min(end * tall, size.rows));
      });
    }
  }
}

void SumColumns(const float* values, int64_t rows, int64_t columns, float* out) {
  simd::RunWidest<ColumnSums>(values, rows, columns, out);
}

}  // namespace lzero
