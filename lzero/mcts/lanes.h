// Four floats or integers at a time for the loops over actions, written with the compiler's vector
// types: the same bits at every optimisation level, on every machine without fused multiply-add.
// Not a linear algebra library. Pure functions.
#ifndef LZERO_MCTS_LANES_H_
#define LZERO_MCTS_LANES_H_

#include <cstdint>
#include <cstring>
#include <limits>

namespace lzero {

inline constexpr int kLanes = 4;
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

using Float4 = float __attribute__((vector_size(16)));
using Int4 = int32_t __attribute__((vector_size(16)));
using Uint4 = uint32_t __attribute__((vector_size(16)));

// The number of actions rounded up to whole groups of lanes.
constexpr int PaddedActions(int num_actions) {
  return (num_actions + kLanes - 1) / kLanes * kLanes;
}

inline Float4 Fill(float value) { return Float4{value, value, value, value}; }
inline Int4 FillInt(int32_t value) { return Int4{value, value, value, value}; }

inline Float4 Load(const float* from) {
  Float4 lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

inline Int4 LoadInt(const int32_t* from) {
  Int4 lanes;
  std::memcpy(&lanes, from, sizeof(lanes));
  return lanes;
}

inline void Store(Float4 lanes, float* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

inline Float4 Max(Float4 a, Float4 b) { return a > b ? a : b; }
inline Float4 Min(Float4 a, Float4 b) { return a < b ? a : b; }
inline Int4 Max(Int4 a, Int4 b) { return a > b ? a : b; }
inline Int4 Min(Int4 a, Int4 b) { return a < b ? a : b; }
inline Float4 ToFloat(Int4 lanes) { return __builtin_convertvector(lanes, Float4); }

// The same lanes in another order, for reductions that stay in vector registers.
inline Float4 SwapHalves(Float4 v) { return Float4{v[2], v[3], v[0], v[1]}; }
inline Float4 SwapPairs(Float4 v) { return Float4{v[1], v[0], v[3], v[2]}; }
inline Int4 SwapHalves(Int4 v) { return Int4{v[2], v[3], v[0], v[1]}; }
inline Int4 SwapPairs(Int4 v) { return Int4{v[1], v[0], v[3], v[2]}; }

// Reductions in a fixed order, so that a sum has the same bits everywhere. Every lane of the result
// holds it.
inline Float4 SumLanes(Float4 v) {
  v += SwapHalves(v);
  return v + SwapPairs(v);
}
inline Float4 MaxLanes(Float4 v) {
  v = Max(v, SwapHalves(v));
  return Max(v, SwapPairs(v));
}
inline Float4 MinLanes(Float4 v) {
  v = Min(v, SwapHalves(v));
  return Min(v, SwapPairs(v));
}
inline Int4 MaxLanes(Int4 v) {
  v = Max(v, SwapHalves(v));
  return Max(v, SwapPairs(v));
}
inline Int4 MinLanes(Int4 v) {
  v = Min(v, SwapHalves(v));
  return Min(v, SwapPairs(v));
}

// exp(x) for x <= 0 within 2e-7 of its value; below -87 it stays at the smallest normal number.
// [Cephes expf: reduction by ln 2 in two parts, polynomial of degree 6]
inline Float4 ExpNonPositive(Float4 x) {
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
  Uint4 bits;  // the integer n sits in the low bits of `shifted`
  std::memcpy(&bits, &shifted, sizeof(bits));
  const Uint4 power_bits = (bits << 23) + 0x3f800000u;
  Float4 power;
  std::memcpy(&power, &power_bits, sizeof(power));
  return y * power;
}

// The largest score seen and the first index that has it.
class FirstMaximum {
 public:
  void Add(Float4 scores, int first_index) {
    const Int4 indices = Int4{0, 1, 2, 3} + first_index;
    const Int4 better = scores > best_;
    best_ = better ? scores : best_;
    index_ = better ? indices : index_;
  }
  float best() const { return MaxLanes(best_)[0]; }
  int index() const {
    const Int4 none = FillInt(std::numeric_limits<int32_t>::max());
    return MinLanes(best_ == MaxLanes(best_) ? index_ : none)[0];
  }

 private:
  Float4 best_ = Fill(-kInfinity);
  Int4 index_ = FillInt(0);
};

}  // namespace lzero

#endif  // LZERO_MCTS_LANES_H_
