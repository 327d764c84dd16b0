// Two products a lane, summed in fp32. Written with intrinsics because Highway 1.0 does not know
// them.
#include "lzero/kernels/product/bf16_kernels.h"

#include <cstdint>

#include "lzero/base/check.h"
#include "lzero/kernels/product/tiling.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define LZ_HAS_BF16_KERNELS 1
#include <immintrin.h>
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,fma")
#endif

namespace lzero {

#ifdef LZ_HAS_BF16_KERNELS
namespace {

template <int Rows, int Panels>
void HalfTile(const Tile& tile) {
  const ProductCall& call = *tile.call;
  const int64_t pairs = (call.matrix->in() + 1) / 2, panel_size = 2 * pairs * kPanelColumns;
  const uint16_t* __restrict weights = call.matrix->half_panels() + tile.panel * panel_size;
  const uint32_t* __restrict x = call.half_x + tile.row * pairs;
  __m512 sums[Rows][Panels];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < Panels; ++p) sums[r][p] = _mm512_setzero_ps();
  }
  // Sum over pairs of k.
  const bool fetch = FetchesNext(tile, Panels);
  for (int64_t k = 0; k < pairs; ++k) {
    if (fetch) {
      const uint16_t* next = weights + Panels * panel_size + k * Panels * 2 * kPanelColumns;
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) __builtin_prefetch(next + p * 2 * kPanelColumns);
    }
    __m512i w[Panels];
#pragma GCC unroll 16
    for (int p = 0; p < Panels; ++p) {
      w[p] = _mm512_load_si512(weights + p * panel_size + k * 2 * kPanelColumns);
    }
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
      const __m512i factors = _mm512_set1_epi32(static_cast<int>(x[r * pairs + k]));
#pragma GCC unroll 16
      for (int p = 0; p < Panels; ++p) {
        sums[r][p] = _mm512_dpbf16_ps(sums[r][p], reinterpret_cast<__m512bh>(factors),
                                      reinterpret_cast<__m512bh>(w[p]));
      }
    }
  }
  // Store, with addend and bias.
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
    for (int p = 0; p < Panels; ++p) {
      const int64_t at = r * tile.y_stride + p * kPanelColumns;
      __m512 sum = sums[r][p];
      if (tile.addend != nullptr) sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile.addend + at));
      if (tile.bias != nullptr) {
        sum = _mm512_add_ps(sum, _mm512_loadu_ps(tile.bias + p * kPanelColumns));
      }
      _mm512_storeu_ps(tile.y + at, sum);
    }
  }
}

template <int Rows, int Panels>
struct HalfTiles {
  static constexpr TileFunction Get() { return HalfTile<Rows, Panels>; }
};
constexpr TileSet kHalfTiles = MakeTileSet<HalfTiles, 8, 8, 4, 2>(kWholeDepth);

// Rounds all rows of x to bf16, an odd length padded with 0.
void RoundRows(const ProductCall& call) {
  const int64_t in = call.matrix->in(), pairs = (in + 1) / 2;
  for (int64_t r = 0; r < call.num_rows; ++r) {
    const float* x = call.x + r * call.x_stride;
    auto* halves = reinterpret_cast<uint16_t*>(call.half_x + r * pairs);
    int64_t k = 0;
    for (; k + 16 <= in; k += 16) {
      const __m256bh rounded = _mm512_cvtneps_pbh(_mm512_loadu_ps(x + k));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(halves + k),
                          reinterpret_cast<__m256i>(rounded));
    }
    for (; k < in; ++k) halves[k] = ToBf16(x[k]);
    if (in % 2 == 1) halves[in] = 0;
  }
}

}  // namespace

void MultiplyBf16(const ProductCall& call) {
  RoundRows(call);
  RunTiles(call, kHalfTiles);
}

#else

void MultiplyBf16(const ProductCall&) { LZ_CHECK(false, "this build has no bf16 kernels"); }

#endif

}  // namespace lzero

#ifdef LZ_HAS_BF16_KERNELS
#pragma GCC pop_options
#endif
