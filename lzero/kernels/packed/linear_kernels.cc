// Products of rows with packed matrices. A tile of rows by panels is summed in registers, each sum
// over k in ascending order, so that a row's result does not depend on its neighbours.
#include <algorithm>
#include <cstring>

#include "lzero/kernels/instruction_set.h"
#include "lzero/kernels/packed/bf16_kernels.h"
#include "lzero/kernels/packed/tiling.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/packed/linear_kernels.cc"
#include "hwy/cache_control.h"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

using packed::Epilogue;
using packed::kPanelColumns;
using packed::LinearCall;
using packed::MakeTileSet;
using packed::RunTiles;
using packed::Tile;
using packed::TileFunction;
using packed::TileSet;
using packed::ToBf16;
using packed::WeightType;

constexpr int kPanelVectors = static_cast<int>(kPanelColumns / kLanes);

// Sums, plus what `y` holds if it is added, plus the bias.
template <int Rows, int Vectors>
HWY_INLINE void StoreTile(const Tile& tile, const Floats (&sums)[Rows][Vectors]) {
  const Tag d;
  const LinearCall& call = *tile.call;
  const float* bias = call.matrix->bias() + tile.panel * kPanelColumns;
  float* y = call.y + tile.row * call.y_stride + tile.panel * kPanelColumns;
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
      float* place = y + r * call.y_stride + v * kLanes;
      const Floats sum =
          call.epilogue == Epilogue::kAdd ? hn::Add(sums[r][v], hn::Load(d, place)) : sums[r][v];
      hn::Store(hn::Add(sum, hn::Load(d, bias + v * kLanes)), d, place);
    }
  }
  if (call.epilogue != Epilogue::kGelu) return;
  for (int r = 0; r < Rows; ++r) {
    for (int v = 0; v < Vectors; ++v) {
      float* place = y + r * call.y_stride + v * kLanes;
      hn::Store(Gelu(hn::Load(d, place)), d, place);
    }
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
  const Tag d;
  constexpr int kVectors = Panels * kPanelVectors;
  const LinearCall& call = *tile.call;
  const int64_t in = call.matrix->in(), panel_size = in * kPanelColumns;
  const float* HWY_RESTRICT weights = call.matrix->panels() + tile.panel * panel_size;
  const float* HWY_RESTRICT x = call.x + tile.row * call.x_stride;
  const int64_t x_stride = call.x_stride;
  Floats sums[Rows][kVectors];
  StartSums(sums);
  const bool fetch = packed::FetchesNext(tile, Panels);
  for (int64_t k = 0; k < in; ++k) {
    if (fetch) {
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) {
        hwy::Prefetch(weights + Panels * panel_size + (k * Panels + p) * kPanelColumns);
      }
    }
    Floats w[kVectors];
#pragma GCC unroll 16
    for (int v = 0; v < kVectors; ++v) {
      w[v] = hn::Load(d, weights + (v / kPanelVectors) * panel_size + k * kPanelColumns +
                             (v % kPanelVectors) * kLanes);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const Floats factor = hn::Set(d, x[r * x_stride + k]);
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(factor, w[v], sums[r][v]);
    }
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
  const LinearCall& call = *tile.call;
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
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 8, 8, 4, 2>();
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 8, 4, 4, 2>();
#elif HWY_TARGET == HWY_AVX2
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 6, 2, 1, 1>();
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 6, 2, 1, 1>();
#else
constexpr TileSet kFloatTiles = MakeTileSet<FloatTiles, 2, 1, 1, 1>();
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 2, 1, 1, 1>();
#endif

// Rounds all rows of x to bf16, an odd length padded with 0.
void RoundRows(const LinearCall& call) {
  const int64_t in = call.matrix->in(), pairs = (in + 1) / 2;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    auto* halves = reinterpret_cast<uint16_t*>(call.half_x + r * pairs);
    for (int64_t k = 0; k < in; ++k) halves[k] = ToBf16(x[k]);
    if (in % 2 == 1) halves[in] = 0;
  }
}

void Products(const LinearCall& call) {
  if (call.matrix->type() == WeightType::kFp32) return RunTiles(call, kFloatTiles);
  RoundRows(call);
  RunTiles(call, kHalfTiles);
}

// GELU of what a product wrote.
void GeluRows(const LinearCall& call) {
  const int64_t size = (call.end_panel - call.first_panel) * kPanelColumns;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    float* y = call.y + r * call.y_stride + call.first_panel * kPanelColumns;
    for (int64_t j = 0; j < size; j += kLanes) Store(Gelu(Load(y + j)), y + j);
  }
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero::packed {

void Linear(const LinearCall& call) {
  const bool is_bf16 = call.matrix->type() == WeightType::kBf16;
  if (!is_bf16 || CurrentInstructionSet() != InstructionSet::kAvx512Bf16) {
    return LZ_KERNEL(Products)(call);
  }
  MultiplyBf16(call);
  if (call.epilogue == Epilogue::kGelu) LZ_KERNEL(GeluRows)(call);
}

}  // namespace lzero::packed
#endif
