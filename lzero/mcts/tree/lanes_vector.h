// Four floats or integers at a time in the compiler's vector types: the flavour of lanes.h for the
// host. The same operations in the same order as lanes_plain.h, lane by lane. Pure functions.
#ifndef LZERO_MCTS_TREE_LANES_VECTOR_H_
#define LZERO_MCTS_TREE_LANES_VECTOR_H_

#include <cstdint>
#include <cstring>

namespace lzero {
inline namespace vector_lanes {

using Float4 = float __attribute__((vector_size(16)));
using Int4 = int32_t __attribute__((vector_size(16)));

inline Float4 Fill(float value) { return Float4{value, value, value, value}; }
inline Int4 FillInt(int32_t value) { return Int4{value, value, value, value}; }
inline Int4 CountFrom(int32_t first) { return Int4{0, 1, 2, 3} + first; }

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
inline void StoreInt(Int4 lanes, int32_t* to) { std::memcpy(to, &lanes, sizeof(lanes)); }

// Lane by lane `a` where the comparison that made `mask` holds, else `b`.
inline Float4 Choose(Int4 mask, Float4 a, Float4 b) { return mask ? a : b; }
inline Int4 Choose(Int4 mask, Int4 a, Int4 b) { return mask ? a : b; }

// `a > b ? a : b` and `a < b ? a : b`, which is what the instructions do, for every number.
inline Float4 Max(Float4 a, Float4 b) {
#ifdef __SSE__
  return __builtin_ia32_maxps(a, b);
#else
  return a > b ? a : b;
#endif
}
inline Float4 Min(Float4 a, Float4 b) {
#ifdef __SSE__
  return __builtin_ia32_minps(a, b);
#else
  return a < b ? a : b;
#endif
}

inline Float4 ToFloat(Int4 lanes) { return __builtin_convertvector(lanes, Float4); }

// One bit for each lane where the comparison that made `mask` holds, lane 0 lowest.
inline uint32_t MaskBits(Int4 mask) {
#ifdef __SSE2__
  Float4 lanes;
  std::memcpy(&lanes, &mask, sizeof(lanes));
  return static_cast<uint32_t>(__builtin_ia32_movmskps(lanes));
#else
  return (mask[0] & 1u) | (mask[1] & 2u) | (mask[2] & 4u) | (mask[3] & 8u);
#endif
}

// 2^n for the float that holds the integer n in its low bits.
inline Float4 PowerOfTwo(Float4 shifted) {
  using Uint4 = uint32_t __attribute__((vector_size(16)));
  Uint4 bits;
  std::memcpy(&bits, &shifted, sizeof(bits));
  const Uint4 power_bits = (bits << 23) + 0x3f800000u;
  Float4 power;
  std::memcpy(&power, &power_bits, sizeof(power));
  return power;
}

// Lanes 0 and 1 of `a`, then of `b`; lanes 2 and 3.
inline Float4 LowHalves(Float4 a, Float4 b) { return Float4{a[0], a[1], b[0], b[1]}; }
inline Float4 HighHalves(Float4 a, Float4 b) { return Float4{a[2], a[3], b[2], b[3]}; }
inline Int4 LowHalves(Int4 a, Int4 b) { return Int4{a[0], a[1], b[0], b[1]}; }
inline Int4 HighHalves(Int4 a, Int4 b) { return Int4{a[2], a[3], b[2], b[3]}; }
// Lanes 0 and 2 of `a`, then of `b`; lanes 1 and 3.
inline Float4 Evens(Float4 a, Float4 b) { return Float4{a[0], a[2], b[0], b[2]}; }
inline Float4 Odds(Float4 a, Float4 b) { return Float4{a[1], a[3], b[1], b[3]}; }
inline Int4 Evens(Int4 a, Int4 b) { return Int4{a[0], a[2], b[0], b[2]}; }
inline Int4 Odds(Int4 a, Int4 b) { return Int4{a[1], a[3], b[1], b[3]}; }

// The same lanes in another order, for reductions that stay in vector registers.
inline Float4 SwapHalves(Float4 v) { return Float4{v[2], v[3], v[0], v[1]}; }
inline Float4 SwapPairs(Float4 v) { return Float4{v[1], v[0], v[3], v[2]}; }
inline Int4 SwapHalves(Int4 v) { return Int4{v[2], v[3], v[0], v[1]}; }
inline Int4 SwapPairs(Int4 v) { return Int4{v[1], v[0], v[3], v[2]}; }

}  // namespace vector_lanes
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_LANES_VECTOR_H_
