// Loops over a row of numbers, one an action of a node. Rows are padded to whole groups of four,
// and a sum or maximum is made of four partial ones, action a going to number a % 4: compilers
// vectorise that, and host and device get the same bits, because the order is fixed. Several lanes
// (base/lanes/one_lane.h) share a row: action a belongs to lane a % count, which alone writes
// there. What reads the whole row joins the lanes before and after. Pure functions.
#ifndef LZERO_MCTS_TREE_ACTION_ROW_H_
#define LZERO_MCTS_TREE_ACTION_ROW_H_

#include <cstdint>
#include <cstring>
#include <limits>

#include "lzero/base/host_device.h"

namespace lzero {

inline constexpr int kGroup = 4;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The number of actions rounded up to whole groups.
LZ_HOST_DEVICE constexpr int PaddedActions(int num_actions) {
  return (num_actions + kGroup - 1) / kGroup * kGroup;
}

// The second where one is not a number.
LZ_HOST_DEVICE inline float Max(float a, float b) { return a > b ? a : b; }
LZ_HOST_DEVICE inline float Min(float a, float b) { return a < b ? a : b; }

// How many of the four partial results a lane makes: all where it is alone, else number lane % 4.
template <typename Lanes>
inline constexpr int kOwnPartials = Lanes::count() == 1 ? kGroup : 1;

// The first action of the partial results that a lane makes.
template <typename Lanes>
LZ_HOST_DEVICE inline int FirstOfPartials(const Lanes& lanes) {
  static_assert(Lanes::count() == 1 || Lanes::count() % kGroup == 0);
  return lanes.lane() % (kGroup / kOwnPartials<Lanes>);
}

// Fills `partials` [kGroup], which begins with those of this lane, with those of the others.
template <typename Lanes>
LZ_HOST_DEVICE inline void SharePartials(const Lanes& lanes, float* partials) {
  if constexpr (Lanes::count() > 1) {
    const float own = partials[0];
    LZ_UNROLL
    for (int i = 0; i < kGroup; ++i) partials[i] = lanes.Read(own, i);
  }
}

// Partial results [kGroup] to one, the same in every lane.
template <typename Lanes>
LZ_HOST_DEVICE inline float JoinSums(const Lanes& lanes, float* sums) {
  SharePartials(lanes, sums);
  return (sums[0] + sums[2]) + (sums[1] + sums[3]);
}
template <typename Lanes>
LZ_HOST_DEVICE inline float JoinMaxima(const Lanes& lanes, float* maxima) {
  SharePartials(lanes, maxima);
  return Max(Max(maxima[0], maxima[2]), Max(maxima[1], maxima[3]));
}
template <typename Lanes>
LZ_HOST_DEVICE inline float JoinMinima(const Lanes& lanes, float* minima) {
  SharePartials(lanes, minima);
  return Min(Min(minima[0], minima[2]), Min(minima[1], minima[3]));
}

// The sum of row [padded_actions].
template <typename Lanes>
LZ_HOST_DEVICE inline float RowSum(const Lanes& lanes, const float* row, int padded_actions) {
  lanes.Join();
  float sums[kGroup] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int group = FirstOfPartials(lanes); group < padded_actions; group += kGroup) {
    LZ_UNROLL
    for (int i = 0; i < kOwnPartials<Lanes>; ++i) sums[i] += row[group + i];
  }
  lanes.Join();
  return JoinSums(lanes, sums);
}

// The largest of row [padded_actions]; -infinity where all are not a number.
template <typename Lanes>
LZ_HOST_DEVICE inline float RowMax(const Lanes& lanes, const float* row, int padded_actions) {
  lanes.Join();
  float maxima[kGroup] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  for (int group = FirstOfPartials(lanes); group < padded_actions; group += kGroup) {
    LZ_UNROLL
    for (int i = 0; i < kOwnPartials<Lanes>; ++i) maxima[i] = Max(row[group + i], maxima[i]);
  }
  lanes.Join();
  return JoinMaxima(lanes, maxima);
}

// exp(x) for x <= 0 within 2e-7 of its value; below -87 it stays at the smallest normal number.
// [Cephes expf: reduction by ln 2 in two parts, polynomial of degree 6]
LZ_HOST_DEVICE inline float ExpNonPositive(float x) {
  x = Max(x, -87.0f);
  constexpr float kRounding = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer
  const float shifted = x * 1.44269504088896341f + kRounding;
  const float n = shifted - kRounding;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float y = r * 1.9875691500e-4f + 1.3981999507e-3f;
  y = y * r + 8.3334519073e-3f;
  y = y * r + 4.1665795894e-2f;
  y = y * r + 1.6666665459e-1f;
  y = y * r + 5.0000001201e-1f;
  y = (y * (r * r) + r) + 1.0f;
  uint32_t bits;  // n in the low bits; 2^n
  memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits << 23) + 0x3f800000u;
  float power;
  memcpy(&power, &bits, sizeof(power));
  return y * power;
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_ACTION_ROW_H_
