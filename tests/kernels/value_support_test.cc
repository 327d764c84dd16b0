// Positions among atoms by hand, and the value transform of single numbers: golden values of its
// definition, the definition inverted by bisection, and precision near 0.
#include "lzero/kernels/value_support.h"

#include <cmath>
#include <limits>

#include "gtest/gtest.h"

namespace lzero::value_support_test {
namespace {

struct Golden {
  double value;
  double transformed;
};

// h(x) = sign(x) (sqrt(|x| + 1) - 1) + 0.001 x, to six decimals.
constexpr Golden kGolden[] = {{1.0, 0.415214},     {0.5, 0.225245},    {10.0, 2.326625},
                              {200.0, 13.377447},  {-21.0, -3.711416}, {1000.0, 31.638584},
                              {1e6, 1999.000488},  {0.0, 0.0},         {-1.0, -0.415214},
                              {-1e6, -1999.000488}};

// h(x) = y solved by bisection over the definition.
double InverseByBisection(double y) {
  double low = 0.0, high = 1e9;
  for (int i = 0; i < 120; ++i) {
    const double middle = 0.5 * (low + high);
    const double transformed = std::sqrt(middle + 1.0) - 1.0 + 0.001 * middle;
    (transformed < std::abs(y) ? low : high) = middle;
  }
  return y < 0.0 ? -low : low;
}

TEST(TransformValueTest, GoldenValues) {
  for (const Golden& golden : kGolden) {
    const double tolerance = 1e-6 * std::max(1.0, std::abs(golden.transformed));
    EXPECT_NEAR(TransformValue(golden.value), golden.transformed, tolerance) << golden.value;
    EXPECT_NEAR(TransformValue(static_cast<float>(golden.value)), golden.transformed, tolerance);
  }
}

TEST(TransformValueTest, InverseOfGoldenValues) {
  for (const Golden& golden : kGolden) {
    // The golden values are float32 numbers of six decimals; divided by the slope of h.
    const double slope = 0.5 / std::sqrt(std::abs(golden.value) + 1.0) + 0.001;
    const double tolerance = (1e-6 + 1e-8 * std::abs(golden.transformed)) / slope;
    EXPECT_NEAR(InverseTransformValue(golden.transformed), golden.value, tolerance);
    EXPECT_NEAR(InverseTransformValue(static_cast<float>(golden.transformed)), golden.value,
                5e-6 * std::abs(golden.value));
  }
}

TEST(TransformValueTest, DoubleRoundTrip) {
  for (int power = -8; power <= 6; ++power) {
    for (int digit = -9; digit <= 9; ++digit) {
      const double value = digit * std::pow(10.0, power);
      EXPECT_NEAR(InverseTransformValue(TransformValue(value)), value, 1e-11 * std::abs(value));
    }
  }
}

TEST(TransformValueTest, TheInverseFollowsTheDefinition) {
  for (int i = -3000; i <= 3000; ++i) {
    const float y = static_cast<float>(i) / 60.0f;
    const double expected = InverseByBisection(static_cast<double>(y));
    ASSERT_NEAR(InverseTransformValue(y), expected, 1e-6 * std::abs(expected)) << y;
  }
  for (const float y : {1e-6f, 1e-3f, -1e-5f, 3e4f}) {  // nothing cancels near 0
    const double expected = InverseByBisection(static_cast<double>(y));
    EXPECT_NEAR(InverseTransformValue(y), expected, 1e-6 * std::abs(expected)) << y;
  }
  EXPECT_EQ(InverseTransformValue(0.0f), 0.0f);
  EXPECT_TRUE(std::isnan(InverseTransformValue(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(InverseTransformValue(-2.0f), -InverseTransformValue(2.0f));
}

TEST(ValueSupportTest, PositionsAndValuesByHand) {
  const ValueSupport even = EvenSupport(1.0, 2.0, 3);  // 1, 1.5, 2
  EXPECT_FLOAT_EQ(even.PositionOf(1.25f), 0.5f);
  EXPECT_EQ(even.PositionOf(0.0f), 0.0f);
  EXPECT_EQ(even.PositionOf(7.0f), 2.0f);
  EXPECT_FLOAT_EQ(even.ValueOf(3.0f), 1.5f);  // the mean atom, in steps of a half
  const ValueSupport squeezed = SqueezedSupport(5);
  EXPECT_NEAR(squeezed.PositionOf(0.5f), 2.225245f, 1e-6f);
  EXPECT_NEAR(squeezed.ValueOf(1.0f), 2.988057f, 1e-6f);  // h(2.988057) = 1
  EXPECT_TRUE(std::isnan(even.PositionOf(std::nanf(""))));
}

}  // namespace
}  // namespace lzero::value_support_test
