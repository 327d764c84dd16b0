// What the kernel files share within one instruction set: loops over rows whose length is no
// multiple of the lanes, sums, exp, GELU and softmax. Included once for each set by Highway's
// foreach_target.h, so its guard toggles. Not for other files.
#if defined(LZERO_KERNELS_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LZERO_KERNELS_SIMD_INL_H_
#undef LZERO_KERNELS_SIMD_INL_H_
#else
#define LZERO_KERNELS_SIMD_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = HWY_FULL(float);
using Floats = hn::Vec<Tag>;
using IntTag = hn::RebindToSigned<Tag>;

inline constexpr int64_t kLanes = HWY_LANES(float);
inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

HWY_INLINE Floats Set(float x) { return hn::Set(Tag(), x); }
HWY_INLINE Floats Zero() { return hn::Zero(Tag()); }
// Whole vectors anywhere in an array.
HWY_INLINE Floats Load(const float* x) { return hn::LoadU(Tag(), x); }
HWY_INLINE void Store(Floats v, float* x) { hn::StoreU(v, Tag(), x); }

// The lanes of a vector that are part of a row: all, or the first ones.
struct AllLanes {};
struct FirstLanes {
  hn::Mask<Tag> mask;
};

// Lanes that are no part of the row are 0, and `fill` with Keep.
HWY_INLINE Floats Load(AllLanes, const float* x) { return Load(x); }
HWY_INLINE Floats Load(FirstLanes lanes, const float* x) {
  return hn::MaskedLoad(lanes.mask, Tag(), x);
}
HWY_INLINE Floats Keep(AllLanes, Floats v, float) { return v; }
HWY_INLINE Floats Keep(FirstLanes lanes, Floats v, float fill) {
  return hn::IfThenElse(lanes.mask, v, Set(fill));
}
HWY_INLINE void Store(AllLanes, Floats v, float* x) { Store(v, x); }
HWY_INLINE void Store(FirstLanes lanes, Floats v, float* x) {
  hn::BlendedStore(v, lanes.mask, Tag(), x);
}

// Calls body(j, lanes) for j = 0, kLanes, ... below size.
template <class Body>
HWY_INLINE void ForEachVector(int64_t size, const Body& body) {
  int64_t j = 0;
  for (; j + kLanes <= size; j += kLanes) body(j, AllLanes());
  if (j < size) body(j, FirstLanes{hn::FirstN(Tag(), static_cast<size_t>(size - j))});
}

// Asks for the cache line that is 4 KiB behind this place: a kernel that goes through an array once
// finds it in the cache then. The processor fetches ahead by itself, but too late for short
// kernels.
HWY_INLINE void PrefetchAhead(const float* place) { __builtin_prefetch(place + 1024); }

HWY_INLINE float Sum(Floats v) { return hn::GetLane(hn::SumOfLanes(Tag(), v)); }
HWY_INLINE float Largest(Floats v) { return hn::GetLane(hn::MaxOfLanes(Tag(), v)); }

#if HWY_TARGET != HWY_SCALAR
using FourTag = hn::FixedTag<float, 4>;

// Halves are added until four lanes are left.
template <class D>
HWY_INLINE hn::Vec<FourTag> SumToFour(D /*d*/, hn::Vec<D> v) {
  if constexpr (sizeof(v) == 16) {
    return v;
  } else {
    const hn::Half<D> half;
    return SumToFour(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}
#endif

// sums [4]: the sum of the lanes of each of four vectors x, times `factor`. Not the bits of Sum.
HWY_INLINE void SumFour(const Floats* x, float factor, float* sums) {
#if HWY_TARGET == HWY_SCALAR
  for (int i = 0; i < 4; ++i) sums[i] = factor * hn::GetLane(x[i]);
#else
  const FourTag d;
  const auto a = SumToFour(Tag(), x[0]), b = SumToFour(Tag(), x[1]);
  const auto c = SumToFour(Tag(), x[2]), e = SumToFour(Tag(), x[3]);
  const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const auto all = hn::Add(hn::ConcatLowerLower(d, ce, ab), hn::ConcatUpperUpper(d, ce, ab));
  hn::StoreU(hn::Mul(all, hn::Set(d, factor)), d, sums);
#endif
}

// x brought into [low, high]. NaN stays NaN: of a number and a NaN, x86 takes the second operand.
HWY_INLINE Floats Clamp(Floats x, float low, float high) {
#if HWY_TARGET == HWY_SCALAR
  if (std::isnan(hn::GetLane(x))) return x;
#endif
  return hn::Min(Set(high), hn::Max(Set(low), x));
}

// 2^n e^r for a whole n from -127 to 127 and |r| <= ln 2 / 2: a polynomial of degree 6 times a
// power of two. [Cephes expf]
HWY_INLINE Floats TimesPowerOfTwo(Floats n, Floats r) {
  Floats p = hn::MulAdd(Set(1.9875691500e-4f), r, Set(1.3981999507e-3f));
  p = hn::MulAdd(p, r, Set(8.3334519073e-3f));
  p = hn::MulAdd(p, r, Set(4.1665795894e-2f));
  p = hn::MulAdd(p, r, Set(1.6666665459e-1f));
  p = hn::MulAdd(p, r, Set(5.0000001201e-1f));
  p = hn::Add(hn::MulAdd(p, hn::Mul(r, r), r), Set(1.0f));
#if HWY_TARGET == HWY_AVX3
  return Floats{_mm512_scalef_ps(p.raw, n.raw)};
#else
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(IntTag(), n), hn::Set(IntTag(), 127)));
  return hn::Mul(p, hn::BitCast(Tag(), power));
#endif
}

// exp(x) within 2e-7 of its value for -87 <= x <= 88; beyond, that of the nearer bound. NaN of NaN.
// Reduction by ln 2 in two parts, so that the rounding of x / ln 2 does not count.
HWY_INLINE Floats Exp(Floats x) {
  x = Clamp(x, -87.0f, 88.0f);
  const Floats n = hn::Round(hn::Mul(x, Set(1.44269504088896341f)));
  Floats r = hn::NegMulAdd(n, Set(0.693145751953125f), x);
  r = hn::NegMulAdd(n, Set(1.42860682030941723e-6f), r);
  return TimesPowerOfTwo(n, r);
}

// 2^z within 3e-7 of its value beside the error of z, for -126 <= z <= 126; beyond, something on
// that side of the bound: 0 to 2^-126, or 2^126 and more. NaN of NaN.
HWY_INLINE Floats Exp2(Floats z) {
#if HWY_TARGET == HWY_AVX3
  // What rounding leaves of an infinity is 0, and scaling by a power of two ends at 0.
  z = hn::Min(Set(126.0f), z);
  const Floats n = hn::Round(z), rest{_mm512_reduce_ps(z.raw, _MM_FROUND_NO_EXC)};
#else
  z = Clamp(z, -126.0f, 126.0f);
  const Floats n = hn::Round(z), rest = hn::Sub(z, n);
#endif
  return TimesPowerOfTwo(n, hn::Mul(rest, Set(0.693147180559945309f)));
}

// GELU in its tanh form is x s(x) with s(x) = 1 / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + c x^3).
inline constexpr double kGeluRoot = 0.7978845608028654;
inline constexpr double kGeluCubic = 0.044715;

HWY_INLINE Floats GeluGate(Floats x) {
  constexpr double kToBaseTwo = -2.0 * 1.4426950408889634 * kGeluRoot;
  constexpr auto kLinear = static_cast<float>(kToBaseTwo);
  constexpr auto kCubic = static_cast<float>(kToBaseTwo * kGeluCubic);
  const Floats exponent = hn::Mul(x, hn::MulAdd(Set(kCubic), hn::Mul(x, x), Set(kLinear)));
  return hn::Div(Set(1.0f), hn::Add(Set(1.0f), Exp2(exponent)));
}

HWY_INLINE Floats Gelu(Floats x) { return hn::Mul(x, GeluGate(x)); }

// d gelu(x) / dx for the gate s = s(x): s + x s (1 - s) 2 u'(x).
HWY_INLINE Floats GeluSlope(Floats x, Floats gate) {
  constexpr auto kConstant = static_cast<float>(2.0 * kGeluRoot);
  constexpr auto kSquare = static_cast<float>(6.0 * kGeluCubic * kGeluRoot);
  const Floats twice_du = hn::MulAdd(Set(kSquare), hn::Mul(x, x), Set(kConstant));
  return hn::MulAdd(hn::Mul(x, gate), hn::NegMulAdd(gate, twice_du, twice_du), gate);
}

// The largest of x [count]; NaN may stay unseen.
HWY_INLINE float LargestOf(const float* x, int64_t count) {
  Floats largest = Set(kMinusInfinity);
  ForEachVector(count, [&](int64_t j, auto lanes) HWY_ATTR {
    largest = hn::Max(largest, Keep(lanes, Load(lanes, x + j), kMinusInfinity));
  });
  return Largest(largest);
}

// The largest number of a row, and the sum of exp(x - largest).
struct ExponentialSum {
  float largest, sum;
};

// The sums of x [count], and what `store(j, lanes, exp(x - largest) of these lanes, else 0)` makes
// of the terms. NaN anywhere makes the sum NaN.
template <class StoreTerms>
HWY_INLINE ExponentialSum SumExponentials(const float* x, int64_t count, const StoreTerms& store) {
  const float largest = LargestOf(x, count);
  Floats sums = Zero();
  ForEachVector(count, [&](int64_t j, auto lanes) HWY_ATTR {
    const Floats power = Keep(lanes, Exp(hn::Sub(Load(lanes, x + j), Set(largest))), 0.0f);
    sums = hn::Add(sums, power);
    store(j, lanes, power);
  });
  return {largest, Sum(sums)};
}

// y [count] = the softmax of x [count], which may be y. If Whole, y is written to the end of a
// vector.
template <bool Whole>
HWY_INLINE void Softmax(const float* x, int64_t count, float* y) {
  const auto store = [&](int64_t j, auto lanes, Floats v) HWY_ATTR {
    if constexpr (Whole) {
      Store(v, y + j);
    } else {
      Store(lanes, v, y + j);
    }
  };
  const Floats factor = Set(1.0f / SumExponentials(x, count, store).sum);
  ForEachVector(count, [&](int64_t j, auto lanes) HWY_ATTR {
    store(j, lanes, hn::Mul(Whole ? Load(y + j) : Load(lanes, y + j), factor));
  });
}

}  // namespace lzero::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LZERO_KERNELS_SIMD_INL_H_
