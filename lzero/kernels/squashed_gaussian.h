// The policy of box actions: a Gaussian squashed by tanh into [-1, 1] [Haarnoja et al. 2018, Soft
// actor-critic, appendix C]. Limits and density, shared by the search that draws from it and the
// loss that teaches it. Pure functions, any thread.
#ifndef LZERO_KERNELS_SQUASHED_GAUSSIAN_H_
#define LZERO_KERNELS_SQUASHED_GAUSSIAN_H_

#include <cmath>

namespace lzero {

// Logs of sigma are held in this range.
inline constexpr double kMinLogSigma = -5.0;
inline constexpr double kMaxLogSigma = 2.0;
// Where the density of an action is asked for that was not just drawn, it is held inside this: at
// +-1 it is undefined.
inline constexpr double kLargestSquashed = 0.999;
inline constexpr double kLogTwoPi = 1.8378770664093453;

// log of d tanh(u) / du, exact for large |u|.
inline double LogTanhSlope(double u) {
  const double fold = std::abs(u);
  return 2.0 * (0.6931471805599453 - fold - std::log1p(std::exp(-2.0 * fold)));
}

// Log density of a = tanh(u) for u ~ N(mean, sigma^2). From u and not from a, so that nothing is
// lost where a rounds to 1.
inline double LogSquashedDensity(double u, double mean, double sigma) {
  const double z = (u - mean) / sigma;
  return -0.5 * (z * z + kLogTwoPi) - std::log(sigma) - LogTanhSlope(u);
}

}  // namespace lzero

#endif  // LZERO_KERNELS_SQUASHED_GAUSSIAN_H_
