// Sums of squares and moving averages against loops in double.
#include "lzero/kernels/weight_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::weight_kernels_test {
namespace {

TEST(WeightKernelsTest, SumsOfSquares) {
  for (const int64_t count : {0, 1, 15, 16, 33, 4096, 4097, 100000}) {
    std::vector<float> values;
    double expected = 0.0;
    for (int64_t i = 0; i < count; ++i) {
      values.push_back(std::sin(static_cast<float>(i)) * 3.0f);
      expected += static_cast<double>(values.back()) * values.back();
    }
    EXPECT_NEAR(SumOfSquares(values.data(), count), expected, 1e-6 * expected) << count;
  }
  const std::vector<float> bad = {1.0f, std::nanf(""), 1e30f};
  EXPECT_TRUE(std::isnan(SumOfSquares(bad.data(), 3)));
  EXPECT_EQ(SumOfSquares(bad.data() + 2, 1), INFINITY);
}

TEST(WeightKernelsTest, MovesTowards) {
  for (const int64_t count : {1, 16, 37}) {
    std::vector<float> from, to;
    for (int64_t i = 0; i < count; ++i) {
      from.push_back(static_cast<float>(i));
      to.push_back(-1.0f);
    }
    MoveTowards(from.data(), 0.25f, count, to.data());
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_NEAR(to[i], -1.0 + 0.25 * (static_cast<double>(i) + 1.0), 1e-5);
    }
  }
}

// A difference of numbers this far apart loses the smaller one: a plain step would miss both ends.
TEST(WeightKernelsTest, RatesZeroAndOneAreExact) {
  const std::vector<float> from(17, 0.1f), start(17, 1e8f);
  std::vector<float> to = start;
  MoveTowards(from.data(), 0.0f, 17, to.data());
  EXPECT_EQ(to, start);
  MoveTowards(from.data(), 1.0f, 17, to.data());
  EXPECT_EQ(to, from);
}

}  // namespace
}  // namespace lzero::weight_kernels_test
