// Products of rows with packed matrices. A tile of rows by panels is summed in registers, each sum
// over k in ascending order, so that a row's result does not depend on its neighbours.
#include "lzero/kernels/product/product_kernels.h"

#include <algorithm>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/product/bf16_kernels.h"
#include "lzero/kernels/product/tiling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/product/product_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

constexpr int kPanelVectors = static_cast<int>(kPanelColumns / kLanes);

// Sums, plus the addend, plus the bias. GELU comes after in a loop of its own: a call in the first
// would keep the sums in memory. What stores could change for all the compiler knows is read
// before.
template <int Rows, int Vectors>
HWY_INLINE void StoreTile(const Tile& tile, Floats (&sums)[Rows][Vectors]) {
  const int64_t stride = tile.y_stride;
  if (const float* addend = tile.addend; addend != nullptr) {
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) {
        sums[r][v] = hn::Add(sums[r][v], Load(addend + r * stride + v * kLanes));
      }
    }
  }
  if (const float* bias = tile.bias; bias != nullptr) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
      const Floats term = Load(bias + v * kLanes);
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) sums[r][v] = hn::Add(sums[r][v], term);
    }
  }
  float* y = tile.y;
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) Store(sums[r][v], y + r * stride + v * kLanes);
  }
  if (!tile.gelu) return;
  for (int r = 0; r < Rows; ++r) {
    float* row = tile.y + r * tile.y_stride;
    for (int64_t j = 0; j < Vectors * kLanes; j += kLanes) Store(Gelu(Load(row + j)), row + j);
  }
}

template <int Rows, int Vectors>
HWY_INLINE void StartSums(Floats (&sums)[Rows][Vectors]) {
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) sums[r][v] = Zero();
  }
}

template <int Rows, int Panels>
void FloatTile(const Tile& tile) {
  constexpr int kVectors = Panels * kPanelVectors;
  const ProductCall& call = *tile.call;
  const int64_t panel_size = call.matrix->in() * kPanelColumns;
  const float* HWY_RESTRICT weights =
      call.matrix->panels() + tile.panel * panel_size + tile.first_k * kPanelColumns;
  const int64_t stride = call.x_stride, step = call.x_step;
  // Four pointers and one stride address twelve rows without more registers.
  const float* x[4];
  for (int i = 0; i < 4; ++i) {
    x[i] = call.x + (tile.row + 3 * i) * stride + tile.first_x;
  }
  Floats sums[Rows][kVectors];
  StartSums(sums);
  const bool fetch = FetchesNext(tile, Panels);
  int64_t left = tile.end_k - tile.first_k, count = std::min(left, tile.in_segment);
  for (; left > 0; left -= count, count = std::min(left, call.x_segment)) {
    for (int64_t k = 0; k < count; ++k) {
      if (fetch) {
#pragma GCC unroll 16
        for (int p = 0; p < Panels; ++p) __builtin_prefetch(weights + (Panels + p) * panel_size);
      }
      Floats w[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        w[v] = Load(weights + (v / kPanelVectors) * panel_size + (v % kPanelVectors) * kLanes);
      }
      weights += kPanelColumns;
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        const Floats factor = Set(x[r / 3][(r % 3) * stride]);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, w[v], sums[r][v]);
      }
#pragma GCC unroll 4
      for (int i = 0; i < 4; ++i) x[i] += step;
    }
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) x[i] += call.x_jump;
  }
  StoreTile(tile, sums);
}

// The same for bf16 weights and inputs, without instructions for them: both halves of a pair become
// floats by shifting and masking.
template <int Rows, int Panels>
void HalfTile(const Tile& tile) {
  const Tag d;
  const hn::RebindToUnsigned<Tag> bits;
  constexpr int kVectors = Panels * kPanelVectors;
  const ProductCall& call = *tile.call;
  const int64_t pairs = (call.matrix->in() + 1) / 2, panel_size = pairs * kPanelColumns;
  const auto* weights = reinterpret_cast<const uint32_t*>(call.matrix->half_panels());
  const uint32_t* x = call.half_x + tile.row * pairs;
  const auto high_half = hn::Set(bits, 0xffff0000u);
  Floats sums[Rows][kVectors];
  StartSums(sums);
  for (int64_t k = 0; k < pairs; ++k) {
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      const auto pair = hn::Load(bits, weights + (tile.panel + v / kPanelVectors) * panel_size +
                                           k * kPanelColumns + (v % kPanelVectors) * kLanes);
      const Floats first = hn::BitCast(d, hn::ShiftLeft<16>(pair));
      const Floats second = hn::BitCast(d, hn::And(pair, high_half));
#pragma GCC unroll 16
      for (int r = 0; r < Rows; ++r) {
        const auto factors = hn::Set(bits, x[r * pairs + k]);
        sums[r][v] = hn::MulAdd(hn::BitCast(d, hn::ShiftLeft<16>(factors)), first, sums[r][v]);
        sums[r][v] = hn::MulAdd(hn::BitCast(d, hn::And(factors, high_half)), second, sums[r][v]);
      }
    }
  }
  StoreTile(tile, sums);
}

template <int Rows, int Panels>
struct FloatTiles {
  static constexpr TileFunction Get() { return FloatTile<Rows, Panels>; }
};
template <int Rows, int Panels>
struct HalfTiles {
  static constexpr TileFunction Get() { return HalfTile<Rows, Panels>; }
};

// Rows and panels by what fits the registers: sums, weights, one broadcast.
#if HWY_TARGET == HWY_AVX3
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 12, 8, 4, 2>(kDepthBlock);
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 8, 4, 4, 2>(kWholeDepth);
#elif HWY_TARGET == HWY_AVX2
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 6, 2, 1, 1>(kDepthBlock);
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 6, 2, 1, 1>(kWholeDepth);
#else
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 2, 1, 1, 1>(kDepthBlock);
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 2, 1, 1, 1>(kWholeDepth);
#endif

// Rounds all rows of x to bf16, an odd length padded with 0.
void RoundRows(const ProductCall& call) {
  const int64_t in = call.matrix->in(), pairs = (in + 1) / 2;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    auto* halves = reinterpret_cast<uint16_t*>(call.half_x + r * pairs);
    for (int64_t k = 0; k < in; ++k) halves[k] = ToBf16(x[k]);
    if (in % 2 == 1) halves[in] = 0;
  }
}

void Products(const ProductCall& call) {
  if (call.matrix->type() == WeightType::kFp32) return RunTiles(call, kFloatTiles);
  RoundRows(call);
  RunTiles(call, kHalfTiles);
}

// GELU of what a product wrote into whole panels.
void GeluRows(const ProductCall& call) {
  const int64_t size = (call.end_panel - call.first_panel) * kPanelColumns;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    float* y = call.y + r * call.y_stride + call.first_panel * kPanelColumns;
    for (int64_t j = 0; j < size; j += kLanes) Store(Gelu(Load(y + j)), y + j);
  }
}

// Rows of b that lie one after another.
void PackRows(const MatrixView& b, int64_t depth, int64_t columns, float* panels) {
  const int64_t whole = columns - columns % kPanelColumns, rest = columns - whole;
  for (int64_t k = 0; k < depth; ++k) {
    const float* row = b.values + k * b.row_stride;
    float* to = panels + k * kPanelColumns;
    for (int64_t column = 0; column < whole; column += kPanelColumns) {
      for (int64_t j = 0; j < kPanelColumns; j += kLanes) {
        Store(Load(row + column + j), to + column * depth + j);
      }
    }
    to += whole * depth;
    for (int64_t j = 0; rest > 0 && j < kPanelColumns; ++j) to[j] = j < rest ? row[whole + j] : 0;
  }
}

#if HWY_TARGET != HWY_SCALAR
// to [4 rows, 16 apart] = the transposed square of from [4 rows, stride apart].
HWY_INLINE void TransposeFour(const float* from, int64_t stride, float* to) {
  const FourTag d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto low01 = hn::InterleaveLower(d, r0, r1), high01 = hn::InterleaveUpper(d, r0, r1);
  const auto low23 = hn::InterleaveLower(d, r2, r3), high23 = hn::InterleaveUpper(d, r2, r3);
  hn::StoreU(hn::ConcatLowerLower(d, low23, low01), d, to);
  hn::StoreU(hn::ConcatUpperUpper(d, low23, low01), d, to + kPanelColumns);
  hn::StoreU(hn::ConcatLowerLower(d, high23, high01), d, to + 2 * kPanelColumns);
  hn::StoreU(hn::ConcatUpperUpper(d, high23, high01), d, to + 3 * kPanelColumns);
}
#endif

// Columns of b that lie one after another, each a row of what is transposed.
void PackColumns(const MatrixView& b, int64_t depth, int64_t columns, float* panels) {
  const int64_t stride = b.column_stride;
  for (int64_t first = 0; first < columns; first += kPanelColumns) {
    const int64_t count = std::min(kPanelColumns, columns - first);
    const float* from = b.values + first * stride;
    float* to = panels + first * depth;
    int64_t k = 0;
#if HWY_TARGET != HWY_SCALAR
    for (; count == kPanelColumns && k + 4 <= depth; k += 4) {
      for (int64_t j = 0; j < kPanelColumns; j += 4) {
        TransposeFour(from + j * stride + k, stride, to + k * kPanelColumns + j);
      }
    }
#endif
    for (; k < depth; ++k) {
      for (int64_t j = 0; j < kPanelColumns; ++j) {
        to[k * kPanelColumns + j] = j < count ? from[j * stride + k] : 0.0f;
      }
    }
  }
}

void ColumnSums(const float* values, int64_t rows, int64_t columns, float* sums) {
  // Four rows at a time, so that the sums are read and written more rarely.
  for (int64_t row = 0; row < rows; row += 4) {
    const float* first = values + row * columns;
    const bool four = row + 4 <= rows;
    for (int64_t i = row; i < rows && !four; ++i) {
      for (int64_t j = 0; j < columns; ++j) sums[j] += values[i * columns + j];
    }
    ForEachVector(four ? columns : 0, [&](int64_t j, auto lanes) HWY_ATTR {
      const float* at = first + j;
      const Floats two = hn::Add(Load(lanes, at), Load(lanes, at + columns));
      const Floats more = hn::Add(Load(lanes, at + 2 * columns), Load(lanes, at + 3 * columns));
      Store(lanes, hn::Add(Load(lanes, sums + j), hn::Add(two, more)), sums + j);
    });
  }
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {

void RunProduct(const ProductCall& call) {
  const bool is_bf16 = call.matrix->type() == WeightType::kBf16;
  if (!is_bf16 || CurrentInstructionSet() != InstructionSet::kAvx512Bf16) {
    return LZ_KERNEL(Products)(call);
  }
  MultiplyBf16(call);
  if (call.gelu) LZ_KERNEL(GeluRows)(call);
}

void Linear(const LinearCall& linear) {
  ProductCall call;
  call.matrix = linear.matrix;
  call.x = linear.x;
  call.x_stride = linear.x_stride;
  call.y = linear.y;
  call.y_stride = linear.y_stride;
  call.num_rows = linear.num_rows;
  call.first_panel = linear.first_panel;
  call.end_panel = linear.end_panel;
  call.columns = linear.matrix->num_panels() * kPanelColumns;
  call.bias = linear.matrix->bias();
  call.addend = linear.epilogue == Epilogue::kAdd ? linear.y : nullptr;
  call.gelu = linear.epilogue == Epilogue::kGelu;
  call.half_x = linear.half_x;
  RunProduct(call);
}

void PackPanels(const MatrixView& b, int64_t depth, int64_t columns, float* panels) {
  const auto pack = b.column_stride == 1 ? LZ_KERNEL(PackRows) : LZ_KERNEL(PackColumns);
  pack(b, depth, columns, panels);
}

void AddColumnSums(const float* values, int64_t rows, int64_t columns, float* sums) {
  LZ_KERNEL(ColumnSums)(values, rows, columns, sums);
}

}  // namespace lzero
#endif
