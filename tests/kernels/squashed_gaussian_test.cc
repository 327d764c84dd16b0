#include "lzero/kernels/squashed_gaussian.h"

#include <cmath>

#include "gtest/gtest.h"

namespace lzero::squashed_gaussian_test {
namespace {

TEST(SquashedGaussian, SlopeOfTanhIsExactNearAndFarFromZero) {
  EXPECT_NEAR(LogTanhSlope(0.0), 0.0, 1e-15);
  EXPECT_NEAR(LogTanhSlope(0.7), std::log(1.0 - std::tanh(0.7) * std::tanh(0.7)), 1e-14);
  EXPECT_EQ(LogTanhSlope(-0.7), LogTanhSlope(0.7));
  // 1 - tanh^2 = 4 / (e^u + e^-u)^2, about 4 e^-2u.
  EXPECT_NEAR(LogTanhSlope(300.0), std::log(4.0) - 600.0, 1e-9);
}

TEST(SquashedGaussian, DensityIntegratesToOne) {
  double sum = 0.0;
  const double step = 1e-4;
  for (double a = -1.0 + step / 2; a < 1.0; a += step) {
    sum += step * std::exp(LogSquashedDensity(std::atanh(a), 0.3, 0.8));
  }
  EXPECT_NEAR(sum, 1.0, 1e-4);
}

// By hand: u = 0.5, mean 0, sigma 1: normal density 0.352065, slope 1 - tanh(0.5)^2 = 0.786448.
TEST(SquashedGaussian, DensityByHand) {
  EXPECT_NEAR(std::exp(LogSquashedDensity(0.5, 0.0, 1.0)), 0.352065 / 0.786448, 1e-5);
}

}  // namespace
}  // namespace lzero::squashed_gaussian_test
