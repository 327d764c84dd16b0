// Four floats or integers at a time in a plain struct: the flavour of lanes.h for CUDA devices,
// which know no vector types. The same operations in the same order as lanes_vector.h, lane by
// lane, so that results have the same bits. Pure functions.
#ifndef LZERO_MCTS_TREE_LANES_PLAIN_H_
#define LZERO_MCTS_TREE_LANES_PLAIN_H_

#include <cstdint>
#include <cstring>

#include "lzero/base/host_device.h"

namespace lzero {
inline namespace plain_lanes {

template <typename T>
struct alignas(16) Lanes {
  T lane[4];
  LZ_HOST_DEVICE T operator[](int i) const { return lane[i]; }
};
using Float4 = Lanes<float>;
using Int4 = Lanes<int32_t>;

template <typename T>
LZ_HOST_DEVICE inline Lanes<T> FillWith(T number) {
  return {{number, number, number, number}};
}
LZ_HOST_DEVICE inline Float4 Fill(float value) { return FillWith(value); }
LZ_HOST_DEVICE inline Int4 FillInt(int32_t value) { return FillWith(value); }
LZ_HOST_DEVICE inline Int4 CountFrom(int32_t first) {
  return {{first, first + 1, first + 2, first + 3}};
}

// `from` and `to` must be aligned to 16 bytes: one access each.
LZ_HOST_DEVICE inline Float4 Load(const float* from) {
  return *reinterpret_cast<const Float4*>(from);
}
LZ_HOST_DEVICE inline Int4 LoadInt(const int32_t* from) {
  return *reinterpret_cast<const Int4*>(from);
}
LZ_HOST_DEVICE inline void Store(Float4 lanes, float* to) {
  *reinterpret_cast<Float4*>(to) = lanes;
}
LZ_HOST_DEVICE inline void StoreInt(Int4 lanes, int32_t* to) {
  *reinterpret_cast<Int4*>(to) = lanes;
}

// The operators of lanes with lanes, and of lanes with one number for all of them. Comparisons give
// -1 where they hold, 0 elsewhere.
#define LZ_LANES_OPERATOR(symbol)                                                                \
  template <typename T>                                                                          \
  LZ_HOST_DEVICE inline Lanes<T> operator symbol(Lanes<T> a, Lanes<T> b) {                       \
    return {{a.lane[0] symbol b.lane[0], a.lane[1] symbol b.lane[1], a.lane[2] symbol b.lane[2], \
             a.lane[3] symbol b.lane[3]}};                                                       \
  }                                                                                              \
  template <typename T>                                                                          \
  LZ_HOST_DEVICE inline Lanes<T> operator symbol(Lanes<T> a, T b) {                              \
    return a symbol FillWith(b);                                                                 \
  }                                                                                              \
  template <typename T>                                                                          \
  LZ_HOST_DEVICE inline Lanes<T> operator symbol(T a, Lanes<T> b) {                              \
    return FillWith(a) symbol b;                                                                 \
  }
#define LZ_LANES_COMPARISON(symbol)                                          \
  template <typename T>                                                      \
  LZ_HOST_DEVICE inline Int4 operator symbol(Lanes<T> a, Lanes<T> b) {       \
    return {{-(a.lane[0] symbol b.lane[0]), -(a.lane[1] symbol b.lane[1]),   \
             -(a.lane[2] symbol b.lane[2]), -(a.lane[3] symbol b.lane[3])}}; \
  }                                                                          \
  template <typename T>                                                      \
  LZ_HOST_DEVICE inline Int4 operator symbol(Lanes<T> a, T b) {              \
    return a symbol FillWith(b);                                             \
  }
LZ_LANES_OPERATOR(+)
LZ_LANES_OPERATOR(-)
LZ_LANES_OPERATOR(*)
LZ_LANES_OPERATOR(/)
LZ_LANES_COMPARISON(>)
LZ_LANES_COMPARISON(<)
LZ_LANES_COMPARISON(==)
#undef LZ_LANES_OPERATOR
#undef LZ_LANES_COMPARISON

LZ_HOST_DEVICE inline Float4& operator+=(Float4& a, Float4 b) { return a = a + b; }

// Lane by lane `a` where the comparison that made `mask` holds, else `b`.
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> Choose(Int4 mask, Lanes<T> a, Lanes<T> b) {
  return {{mask.lane[0] != 0 ? a.lane[0] : b.lane[0], mask.lane[1] != 0 ? a.lane[1] : b.lane[1],
           mask.lane[2] != 0 ? a.lane[2] : b.lane[2], mask.lane[3] != 0 ? a.lane[3] : b.lane[3]}};
}

LZ_HOST_DEVICE inline Float4 Max(Float4 a, Float4 b) { return Choose(a > b, a, b); }
LZ_HOST_DEVICE inline Float4 Min(Float4 a, Float4 b) { return Choose(a < b, a, b); }

LZ_HOST_DEVICE inline Float4 ToFloat(Int4 v) {
  return {{static_cast<float>(v.lane[0]), static_cast<float>(v.lane[1]),
           static_cast<float>(v.lane[2]), static_cast<float>(v.lane[3])}};
}

// One bit for each lane where the comparison that made `mask` holds, lane 0 lowest.
LZ_HOST_DEVICE inline uint32_t MaskBits(Int4 mask) {
  return (mask.lane[0] & 1u) | (mask.lane[1] & 2u) | (mask.lane[2] & 4u) | (mask.lane[3] & 8u);
}

// 2^n for the float that holds the integer n in its low bits.
LZ_HOST_DEVICE inline Float4 PowerOfTwo(Float4 shifted) {
  Float4 power = {};
  for (int i = 0; i < 4; ++i) {
    uint32_t bits;
    memcpy(&bits, &shifted.lane[i], sizeof(bits));
    bits = (bits << 23) + 0x3f800000u;
    memcpy(&power.lane[i], &bits, sizeof(bits));
  }
  return power;
}

// Lanes 0 and 1 of `a`, then of `b`; lanes 2 and 3.
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> LowHalves(Lanes<T> a, Lanes<T> b) {
  return {{a.lane[0], a.lane[1], b.lane[0], b.lane[1]}};
}
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> HighHalves(Lanes<T> a, Lanes<T> b) {
  return {{a.lane[2], a.lane[3], b.lane[2], b.lane[3]}};
}
// Lanes 0 and 2 of `a`, then of `b`; lanes 1 and 3.
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> Evens(Lanes<T> a, Lanes<T> b) {
  return {{a.lane[0], a.lane[2], b.lane[0], b.lane[2]}};
}
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> Odds(Lanes<T> a, Lanes<T> b) {
  return {{a.lane[1], a.lane[3], b.lane[1], b.lane[3]}};
}

// The same lanes in another order.
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> SwapHalves(Lanes<T> v) {
  return {{v.lane[2], v.lane[3], v.lane[0], v.lane[1]}};
}
template <typename T>
LZ_HOST_DEVICE inline Lanes<T> SwapPairs(Lanes<T> v) {
  return {{v.lane[1], v.lane[0], v.lane[3], v.lane[2]}};
}

}  // namespace plain_lanes
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_LANES_PLAIN_H_
