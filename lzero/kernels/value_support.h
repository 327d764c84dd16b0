// The atoms over which values or rewards are distributions: evenly spread, over the values
// themselves or over what the transform h makes of them, h(x) = sign(x) (sqrt(|x| + 1) - 1) + eps x
// [MuZero App. F; Pohlen et al. 2018]. h and its inverse are written so that nothing cancels near
// 0. Tensors are in nn/support.h. Pure functions.
#ifndef LZERO_KERNELS_VALUE_SUPPORT_H_
#define LZERO_KERNELS_VALUE_SUPPORT_H_

#include <cmath>
#include <cstdint>

#include "lzero/base/host_device.h"

namespace lzero {

inline constexpr double kValueTransformEpsilon = 0.001;
// The inverse is (1 + u)^2 - 1 = u (u + 2) with 1 + u = (r - 1) / (2 eps) and
// r = sqrt(1 + 4 eps (|y| + 1 + eps)). At y = 0 the root r is 1 + 2 eps, so that
// u = (r - (1 + 2 eps)) / (2 eps) = 2 |y| / (r + 1 + 2 eps).
inline constexpr double kValueTransformRootAtZero = 1.0 + 2.0 * kValueTransformEpsilon;

// Real: float or double; everything is computed in it.
template <typename Real>
LZ_HOST_DEVICE Real TransformValue(Real value) {
  const Real magnitude = std::abs(value);
  // sqrt(m + 1) - 1 = m / (sqrt(m + 1) + 1)
  const Real squeezed = magnitude / (std::sqrt(magnitude + Real(1)) + Real(1));
  return std::copysign(squeezed, value) + static_cast<Real>(kValueTransformEpsilon) * value;
}

template <typename Real>
LZ_HOST_DEVICE Real InverseTransformValue(Real transformed) {
  constexpr auto kEpsilon = static_cast<Real>(kValueTransformEpsilon);
  const Real magnitude = std::abs(transformed);
  const Real root = std::sqrt(Real(1) + 4 * kEpsilon * (magnitude + (Real(1) + kEpsilon)));
  const Real increase = 2 * magnitude / (root + static_cast<Real>(kValueTransformRootAtZero));
  return std::copysign(increase * (increase + 2), transformed);
}

struct ValueSupport {
  int32_t size = 0;         // S
  float origin = 0.0f;      // of atom 0, in steps from 0
  float step = 1.0f;        // between two atoms
  bool is_squeezed = true;  // by h

  // Where `value` lies among the atoms, 0 .. S - 1; NaN for NaN. Beyond the last it is clamped.
  LZ_HOST_DEVICE float PositionOf(float value) const {
    const float first = origin, last = origin + static_cast<float>(size - 1);
    float place = (is_squeezed ? TransformValue(value) : value) / step;
    place = place < first ? first : place;
    return (place > last ? last : place) - first;
  }
  // The value that a mean of atoms, in steps from 0, stands for.
  LZ_HOST_DEVICE float ValueOf(float mean) const {
    return is_squeezed ? InverseTransformValue(mean * step) : mean * step;
  }
};

// Atoms -K .. K of h, K = (size - 1) / 2; `size` is odd. [MuZero App. F]
inline ValueSupport SqueezedSupport(int64_t size) {
  return {static_cast<int32_t>(size), -static_cast<float>(size - 1) / 2.0f, 1.0f, true};
}

// From `min` to `max`; bins >= 2.
inline ValueSupport EvenSupport(double min, double max, int64_t bins) {
  const double step = (max - min) / static_cast<double>(bins - 1);
  return {static_cast<int32_t>(bins), static_cast<float>(min / step), static_cast<float>(step),
          false};
}

// EvenSupport of a range {min, max, bins} where a config gives one; else `size` atoms of h.
template <typename OptionalRange>
ValueSupport SupportOf(const OptionalRange& range, int64_t size) {
  return range.has_value() ? EvenSupport(range->min, range->max, range->bins)
                           : SqueezedSupport(size);
}

}  // namespace lzero

#endif  // LZERO_KERNELS_VALUE_SUPPORT_H_
