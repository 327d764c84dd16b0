#include "lzero/kernels/convolution/tile_kernels.h"

#include <algorithm>

#include "lzero/kernels/instruction_set.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lzero/kernels/convolution/tile_kernels.cc"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "lzero/kernels/simd_inl.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {
namespace {

constexpr int kIn = 6, kOut = 4;  // cells of a tile's side
alignas(64) constexpr float kZeros[kMostTileChannels] = {};

// One side of a transform: `to` [To] = the rows of a matrix times `from` [From].
struct InputSide {  // B^T
  static constexpr int kFrom = kIn, kTo = kIn;
  HWY_INLINE static void Apply(const Floats* d, Floats* to) {
    const Floats four = Set(4.0f), five = Set(5.0f);
    to[0] = hn::MulAdd(four, d[0], hn::NegMulAdd(five, d[2], d[4]));
    const Floats even = hn::NegMulAdd(four, d[2], d[4]), odd = hn::NegMulAdd(four, d[1], d[3]);
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    const Floats near = hn::Sub(d[4], d[2]), far = hn::Sub(d[3], d[1]);
    to[3] = hn::MulAdd(Set(2.0f), far, near);
    to[4] = hn::NegMulAdd(Set(2.0f), far, near);
    to[5] = hn::MulAdd(four, d[1], hn::NegMulAdd(five, d[3], d[5]));
  }
};

struct OutputSide {  // A^T
  static constexpr int kFrom = kIn, kTo = kOut;
  HWY_INLINE static void Apply(const Floats* m, Floats* to) {
    const Floats sum1 = hn::Add(m[1], m[2]), difference1 = hn::Sub(m[1], m[2]);
    const Floats sum2 = hn::Add(m[3], m[4]), difference2 = hn::Sub(m[3], m[4]);
    to[0] = hn::Add(hn::Add(m[0], sum1), sum2);
    to[1] = hn::MulAdd(Set(2.0f), difference2, difference1);
    to[2] = hn::MulAdd(Set(4.0f), sum2, sum1);
    to[3] = hn::Add(hn::MulAdd(Set(8.0f), difference2, difference1), m[5]);
  }
};

struct GradientSide {  // A
  static constexpr int kFrom = kOut, kTo = kIn;
  HWY_INLINE static void Apply(const Floats* y, Floats* to) {
    const Floats even = hn::Add(y[0], y[2]), odd = hn::Add(y[1], y[3]);
    to[0] = y[0];
    to[1] = hn::Add(even, odd);
    to[2] = hn::Sub(even, odd);
    const Floats even2 = hn::MulAdd(Set(4.0f), y[2], y[0]);
    const Floats odd2 = hn::Mul(Set(2.0f), hn::MulAdd(Set(4.0f), y[3], y[1]));
    to[3] = hn::Add(even2, odd2);
    to[4] = hn::Sub(even2, odd2);
    to[5] = y[3];
  }
};

// Both sides: numbers at from[kFrom^2] + j to numbers at to[kTo^2] + j.
template <class Side, class Lanes>
HWY_INLINE void TransformTile(const float* const* from, float* const* to, int64_t j, Lanes lanes) {
  constexpr int kFrom = Side::kFrom, kTo = Side::kTo;
  Floats half[kTo][kFrom];
#pragma GCC unroll 6
  for (int column = 0; column < kFrom; ++column) {
    Floats x[kFrom], y[kTo];
#pragma GCC unroll 6
    for (int i = 0; i < kFrom; ++i) x[i] = Load(lanes, from[i * kFrom + column] + j);
    Side::Apply(x, y);
#pragma GCC unroll 6
    for (int i = 0; i < kTo; ++i) half[i][column] = y[i];
  }
#pragma GCC unroll 6
  for (int row = 0; row < kTo; ++row) {
    Floats y[kTo];
    Side::Apply(half[row], y);
#pragma GCC unroll 6
    for (int i = 0; i < kTo; ++i) Store(lanes, y[i], to[row * kTo + i] + j);
  }
}

// Calls body(i, sample, row, column) for the tiles of the range: their first output cell.
template <class Body>
HWY_INLINE void ForEachTile(const TileRange& range, const Body& body) {
  const int64_t down = range.planes.tiles_down(), across = range.planes.tiles_across();
  for (int64_t i = 0; i < range.count; ++i) {
    const int64_t tile = range.first + i, line = tile / across;
    body(i, line / down, line % down * kOut, tile % across * kOut);
  }
}

// The cells of a square of Side x Side from (row, column) on in a sample; `outside` where there is
// none.
template <int Side, class Float>
HWY_INLINE void FindCells(const TileRange& range, Float* planes, Float* outside, int64_t sample,
                          int64_t row, int64_t column, Float** cells) {
  const int64_t height = range.planes.height, width = range.planes.width;
  for (int i = 0; i < Side; ++i) {
    const int64_t y = row + i;
    Float* line = planes + ((sample * height + y) * width + column) * range.channels;
    for (int j = 0; j < Side; ++j) {
      const int64_t x = column + j;
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      cells[i * Side + j] = inside ? line + j * range.channels : outside;
    }
  }
}

void Inputs(const TileRange& range, const float* x, float* tiles) {
  ForEachTile(range, [&](int64_t i, int64_t sample, int64_t row, int64_t column) HWY_ATTR {
    const float* from[kIn * kIn];
    float* to[kTilePlaces];
    FindCells<kIn>(range, x, &kZeros[0], sample, row - 1, column - 1, from);
    for (int place = 0; place < kTilePlaces; ++place) {
      to[place] = tiles + place * range.place_stride() + i * range.channels;
    }
    ForEachVector(range.channels, [&](int64_t j, auto lanes)
                                      HWY_ATTR { TransformTile<InputSide>(from, to, j, lanes); });
  });
}

void Outputs(const TileRange& range, const float* tiles, float* y) {
  alignas(64) float outside[kMostTileChannels];  // nobody reads it
  ForEachTile(range, [&](int64_t i, int64_t sample, int64_t row, int64_t column) HWY_ATTR {
    const float* from[kTilePlaces];
    float* to[kOut * kOut];
    for (int place = 0; place < kTilePlaces; ++place) {
      from[place] = tiles + place * range.place_stride() + i * range.channels;
    }
    FindCells<kOut>(range, y, &outside[0], sample, row, column, to);
    ForEachVector(range.channels, [&](int64_t j, auto lanes)
                                      HWY_ATTR { TransformTile<OutputSide>(from, to, j, lanes); });
  });
}

void Gradients(const TileRange& range, const float* dy, float* tiles) {
  ForEachTile(range, [&](int64_t i, int64_t sample, int64_t row, int64_t column) HWY_ATTR {
    const float* from[kOut * kOut];
    float* to[kTilePlaces];
    FindCells<kOut>(range, dy, &kZeros[0], sample, row, column, from);
    for (int place = 0; place < kTilePlaces; ++place) {
      to[place] = tiles + place * range.place_stride() + i * range.channels;
    }
    ForEachVector(range.channels, [&](int64_t j, auto lanes) HWY_ATTR {
      TransformTile<GradientSide>(from, to, j, lanes);
    });
  });
}

}  // namespace
}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace lzero {
namespace {

constexpr float kG[6][3] = {{1.0f / 4, 0, 0},
                            {-1.0f / 6, -1.0f / 6, -1.0f / 6},
                            {-1.0f / 6, 1.0f / 6, -1.0f / 6},
                            {1.0f / 24, 1.0f / 12, 1.0f / 6},
                            {1.0f / 24, -1.0f / 12, 1.0f / 6},
                            {0, 0, 1}};

// Numbers of some pairs of channels, for loops that compilers make vectors of.
constexpr int64_t kPairs = 16;
struct alignas(64) Pairs {
  float of[kPairs];
};

inline Pairs Sum(const float (&factors)[3], const Pairs& x, const Pairs& y, const Pairs& z) {
  Pairs sum;
  for (int64_t p = 0; p < kPairs; ++p) {
    sum.of[p] = x.of[p] * factors[0] + y.of[p] * factors[1] + z.of[p] * factors[2];
  }
  return sum;
}

inline void Add(float factor, const Pairs& x, Pairs* sum) {
  for (int64_t p = 0; p < kPairs; ++p) sum->of[p] += factor * x.of[p];
}

// Calls body(row, first column, count) for parts of all rows.
template <class Body>
void ForEachPairs(int64_t rows, int64_t columns, const Body& body) {
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t first = 0; first < columns; first += kPairs) {
      body(row, first, std::min(kPairs, columns - first));
    }
  }
}

}  // namespace

void TransformInputs(const TileRange& range, const float* x, float* tiles) {
  LZ_KERNEL(Inputs)(range, x, tiles);
}

void TransformOutputs(const TileRange& range, const float* tiles, float* y) {
  LZ_KERNEL(Outputs)(range, tiles, y);
}

void TransformGradients(const TileRange& range, const float* dy, float* tiles) {
  LZ_KERNEL(Gradients)(range, dy, tiles);
}

void TransformWeights(const float* weight, int64_t out, int64_t in, bool backward, float* u) {
  const int64_t rows = backward ? out : in, columns = backward ? in : out;
  ForEachPairs(rows, columns, [&](int64_t row, int64_t first, int64_t count) {
    Pairs g[9] = {}, half[6][3];
    for (int64_t p = 0; p < count; ++p) {
      const int64_t column = first + p;
      const float* from = weight + (backward ? row * in + column : column * in + row) * 9;
      for (int k = 0; k < 9; ++k) g[k].of[p] = from[backward ? 8 - k : k];
    }
    for (int a = 0; a < 6; ++a) {
      for (int c = 0; c < 3; ++c) half[a][c] = Sum(kG[a], g[c], g[3 + c], g[6 + c]);
    }
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 6; ++b) {
        const Pairs sums = Sum(kG[b], half[a][0], half[a][1], half[a][2]);
        std::copy_n(sums.of, count, u + ((a * 6 + b) * rows + row) * columns + first);
      }
    }
  });
}

void AddWeightGradients(const float* du, int64_t out, int64_t in, float* dweight) {
  ForEachPairs(in, out, [&](int64_t i, int64_t first, int64_t count) {
    Pairs half[3][6] = {}, sums[9] = {};
    for (int a = 0; a < 6; ++a) {
      for (int b = 0; b < 6; ++b) {
        Pairs numbers = {};
        std::copy_n(du + ((a * 6 + b) * in + i) * out + first, count, numbers.of);
        for (int c = 0; c < 3; ++c) Add(kG[a][c], numbers, &half[c][b]);
      }
    }
    for (int c = 0; c < 3; ++c) {
      for (int d = 0; d < 3; ++d) {
        for (int b = 0; b < 6; ++b) Add(kG[b][d], half[c][b], &sums[c * 3 + d]);
      }
    }
    for (int64_t p = 0; p < count; ++p) {
      float* to = dweight + ((first + p) * in + i) * 9;
      for (int k = 0; k < 9; ++k) to[k] += sums[k].of[p];
    }
  });
}

}  // namespace lzero
#endif
