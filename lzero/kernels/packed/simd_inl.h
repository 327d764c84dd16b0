// What the kernel files share within one instruction set: lanes, exp, GELU, and sums over rows
// whose length is no multiple of the lanes. Included once for each set by Highway's
// foreach_target.h, so its guard toggles. Not for other files.
#if defined(LZERO_KERNELS_PACKED_SIMD_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef LZERO_KERNELS_PACKED_SIMD_INL_H_
#undef LZERO_KERNELS_PACKED_SIMD_INL_H_
#else
#define LZERO_KERNELS_PACKED_SIMD_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "hwy/highway.h"
#include "lzero/kernels/packed/packed_matrix.h"

HWY_BEFORE_NAMESPACE();
namespace lzero::packed::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = HWY_FULL(float);
using Floats = hn::Vec<Tag>;
using IntTag = hn::RebindToSigned<Tag>;

inline constexpr int64_t kLanes = HWY_LANES(float);
inline constexpr int kPanelVectors = static_cast<int>(kPanelColumns / kLanes);

// Calls body(i, full mask or the mask of a last, shorter vector) for i = 0, kLanes, ... below size.
template <class Body>
HWY_INLINE void ForEachVector(int64_t size, const Body& body) {
  const Tag d;
  const auto all = hn::FirstN(d, static_cast<size_t>(kLanes));
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) body(i, all);
  if (i < size) body(i, hn::FirstN(d, static_cast<size_t>(size - i)));
}

inline constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

// Every lane holds the sum, or the largest lane.
HWY_INLINE Floats Sum(Floats v) { return hn::SumOfLanes(Tag(), v); }
HWY_INLINE Floats Largest(Floats v) { return hn::MaxOfLanes(Tag(), v); }

// exp(x) within 2e-7 of its value for -87 <= x <= 88; beyond, that of the nearer bound. NaN of NaN.
// [Cephes expf: reduction by ln 2 in two parts, polynomial of degree 6]
HWY_INLINE Floats Exp(Floats x) {
  const Tag d;
#if HWY_TARGET == HWY_SCALAR
  if (std::isnan(hn::GetLane(x))) return x;
#endif
  // Of a number and a NaN, x86 takes the second operand.
  x = hn::Min(hn::Set(d, 88.0f), hn::Max(hn::Set(d, -87.0f), x));
  const Floats n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504088896341f)));
  Floats r = hn::NegMulAdd(n, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4f), r);
  Floats y = hn::MulAdd(r, hn::Set(d, 1.9875691500e-4f), hn::Set(d, 1.3981999507e-3f));
  y = hn::MulAdd(y, r, hn::Set(d, 8.3334519073e-3f));
  y = hn::MulAdd(y, r, hn::Set(d, 4.1665795894e-2f));
  y = hn::MulAdd(y, r, hn::Set(d, 1.6666665459e-1f));
  y = hn::MulAdd(y, r, hn::Set(d, 5.0000001201e-1f));
  y = hn::Add(hn::MulAdd(y, hn::Mul(r, r), r), hn::Set(d, 1.0f));
  const auto power = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(IntTag(), n), hn::Set(IntTag(), 127)));
  return hn::Mul(y, hn::BitCast(d, power));
}

// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))) = x / (1 + exp(-2 sqrt(2 / pi) (...))).
HWY_INLINE Floats Gelu(Floats x) {
  const Tag d;
  const Floats cubic = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 0.044715f), hn::Set(d, 1.0f));
  const Floats exponent = hn::Mul(hn::Mul(x, hn::Set(d, -1.5957691216057308f)), cubic);
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), Exp(exponent)));
}

}  // namespace lzero::packed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // LZERO_KERNELS_PACKED_SIMD_INL_H_
