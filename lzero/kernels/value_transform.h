// The transform that squeezes values before they are distributed over atoms, h(x) = sign(x)
// (sqrt(|x| + 1) - 1) + eps x, and its inverse, for single numbers. [MuZero App. F; Pohlen et al.
// 2018] Both are written so that nothing cancels near 0. Tensors are in nn/support.h. Pure
// functions.
#ifndef LZERO_KERNELS_VALUE_TRANSFORM_H_
#define LZERO_KERNELS_VALUE_TRANSFORM_H_

#include <cmath>

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

}  // namespace lzero

#endif  // LZERO_KERNELS_VALUE_TRANSFORM_H_
