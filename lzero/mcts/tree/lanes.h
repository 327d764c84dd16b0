// Four floats or integers at a time for the loops over actions, in one of two flavours that give
// the same bits at every optimisation level, on every machine without fused multiply-add: the
// compiler's vector types, or a plain struct where nvcc compiles (or LZ_PLAIN_LANES asks for it: a
// test that compares both). Code on top of a flavour lives in its namespace, so that a program may
// hold both. Not a linear algebra library. Pure functions.
#ifndef LZERO_MCTS_TREE_LANES_H_
#define LZERO_MCTS_TREE_LANES_H_

#include <cstdint>
#include <limits>

#include "lzero/base/host_device.h"

#if defined(__CUDACC__) || defined(LZ_PLAIN_LANES)
#include "lzero/mcts/tree/lanes_plain.h"
#define LZ_LANES_NAMESPACE plain_lanes
#else
#include "lzero/mcts/tree/lanes_vector.h"
#define LZ_LANES_NAMESPACE vector_lanes
#endif

namespace lzero {

inline constexpr int kLanes = 4;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();
inline constexpr int32_t kNoIndex = std::numeric_limits<int32_t>::max();  // after all others

// The number of actions rounded up to whole groups of lanes.
LZ_HOST_DEVICE constexpr int PaddedActions(int num_actions) {
  return (num_actions + kLanes - 1) / kLanes * kLanes;
}

inline namespace LZ_LANES_NAMESPACE {

// The same for one number as for lanes, for formulas of one node and of four.
LZ_HOST_DEVICE inline float Max(float a, float b) { return a > b ? a : b; }
LZ_HOST_DEVICE inline float Min(float a, float b) { return a < b ? a : b; }
LZ_HOST_DEVICE inline float Choose(bool condition, float a, float b) { return condition ? a : b; }
template <class Number>
LZ_HOST_DEVICE inline Number Spread(float value);
template <>
LZ_HOST_DEVICE inline float Spread<float>(float value) {
  return value;
}
template <>
LZ_HOST_DEVICE inline Float4 Spread<Float4>(float value) {
  return Fill(value);
}

LZ_HOST_DEVICE inline Int4 Max(Int4 a, Int4 b) { return Choose(a > b, a, b); }
LZ_HOST_DEVICE inline Int4 Min(Int4 a, Int4 b) { return Choose(a < b, a, b); }

// Reductions in a fixed order, so that a sum has the same bits everywhere. Every lane of the result
// holds it.
LZ_HOST_DEVICE inline Float4 SumLanes(Float4 v) {
  v += SwapHalves(v);
  return v + SwapPairs(v);
}
LZ_HOST_DEVICE inline Int4 SumLanes(Int4 v) {
  v = v + SwapHalves(v);
  return v + SwapPairs(v);
}
// The sums of `a` (first) and `b` (second), each as SumLanes adds.
struct TwoSums {
  float first;
  float second;
};
LZ_HOST_DEVICE inline TwoSums SumLanesOfTwo(Float4 a, Float4 b) {
  const Float4 halves = LowHalves(a, b) + HighHalves(a, b);
  const Float4 sums = halves + SwapPairs(halves);
  return {sums[0], sums[2]};
}
LZ_HOST_DEVICE inline Float4 MaxLanes(Float4 v) {
  v = Max(v, SwapHalves(v));
  return Max(v, SwapPairs(v));
}
LZ_HOST_DEVICE inline Float4 MinLanes(Float4 v) {
  v = Min(v, SwapHalves(v));
  return Min(v, SwapPairs(v));
}
LZ_HOST_DEVICE inline Int4 MaxLanes(Int4 v) {
  v = Max(v, SwapHalves(v));
  return Max(v, SwapPairs(v));
}
LZ_HOST_DEVICE inline Int4 MinLanes(Int4 v) {
  v = Min(v, SwapHalves(v));
  return Min(v, SwapPairs(v));
}

// Column c holds lane c of every row; the first NumColumns of them.
template <class Lanes, int NumColumns>
LZ_HOST_DEVICE inline void Transpose(const Lanes (&rows)[4], Lanes (&columns)[NumColumns]) {
  static_assert(NumColumns >= 1 && NumColumns <= kLanes, "a row has so many");
  const Lanes low = LowHalves(rows[0], rows[1]);
  const Lanes low_after = LowHalves(rows[2], rows[3]);
  const Lanes high = HighHalves(rows[0], rows[1]);
  const Lanes high_after = HighHalves(rows[2], rows[3]);
  columns[0] = Evens(low, low_after);
  if constexpr (NumColumns > 1) columns[1] = Odds(low, low_after);
  if constexpr (NumColumns > 2) columns[2] = Evens(high, high_after);
  if constexpr (NumColumns > 3) columns[3] = Odds(high, high_after);
}

// exp(x) for x <= 0 within 2e-7 of its value; below -87 it stays at the smallest normal number.
// [Cephes expf: reduction by ln 2 in two parts, polynomial of degree 6]
LZ_HOST_DEVICE inline Float4 ExpNonPositive(Float4 x) {
  x = Max(x, Fill(-87.0f));
  const Float4 rounding = Fill(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Float4 shifted = x * 1.44269504088896341f + rounding;
  const Float4 n = shifted - rounding;
  const Float4 r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  Float4 y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = (y * (r * r) + r) + 1.0f;
  return y * PowerOfTwo(shifted);
}

// The largest score seen and the first index that has it.
class FirstMaximum {
 public:
  LZ_HOST_DEVICE void Add(Float4 scores, int first_index) {
    const Int4 better = scores > best_;
    best_ = Choose(better, scores, best_);
    index_ = Choose(better, CountFrom(first_index), index_);
  }
  LZ_HOST_DEVICE float best() const { return MaxLanes(best_)[0]; }
  LZ_HOST_DEVICE int index() const {
    const Int4 none = FillInt(kNoIndex);
    return MinLanes(Choose(best_ == MaxLanes(best_), index_, none))[0];
  }

 private:
  Float4 best_ = Fill(-kInfinity);
  Int4 index_ = FillInt(0);
};

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_LANES_H_
