// The bootstrap against hand-made cases and intervals of NumPy over the same draws:
// expected_numbers.py.
#include "lzero/statistics/bootstrap.h"

#include <algorithm>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::bootstrap_test {
namespace {

TEST(BootstrapTest, BootstrapOfEqualValuesHasNoWidth) {
  RandomStream random(1, "test");
  const Interval interval = BootstrapInterval({5.0, 5.0, 5.0}, Mean, 0.95, 100, random);
  EXPECT_EQ(interval.low, 5.0);
  EXPECT_EQ(interval.high, 5.0);
}

TEST(BootstrapTest, BootstrapOfTheMeanAgreesWithTheNormalApproximation) {
  // 400 values, half 0 and half 1: the mean's standard error is 0.5 / 20 = 0.025, so the 95 %
  // interval is 0.5 -+ 1.96 * 0.025 = [0.451, 0.549] up to the resampling error.
  std::vector<double> values(400, 0.0);
  std::fill(values.begin(), values.begin() + 200, 1.0);
  RandomStream random(7, "test");
  const Interval interval = BootstrapInterval(values, Mean, 0.95, 2000, random);
  EXPECT_NEAR(interval.low, 0.451, 0.006);
  EXPECT_NEAR(interval.high, 0.549, 0.006);
}

TEST(BootstrapTest, BootstrapDependsOnTheStreamAlone) {
  const std::vector<double> values = {1.0, 4.0, 9.0, 16.0};
  RandomStream first(3, "test"), second(3, "test"), other(4, "test");
  const Interval a = BootstrapInterval(values, Mean, 0.9, 50, first);
  const Interval b = BootstrapInterval(values, Mean, 0.9, 50, second);
  const Interval c = BootstrapInterval(values, Mean, 0.9, 50, other);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_TRUE(a.low != c.low || a.high != c.high);
}

double PooledIqm(const Strata& strata) { return InterquartileMean(PooledRuns(strata)); }

TEST(BootstrapTest, StratifiedIntervalAgreesWithNumPy) {
  const Strata scores = {{12.5, 3.25, 8.0, 8.0, 15.75, -2.5, 9.1}, {0.3, 0.1, 0.2, 0.4, 0.9}};
  RandomStream random(5);
  const Interval interval = StratifiedInterval(scores, PooledIqm, 0.95, 500, random);
  EXPECT_NEAR(interval.low, 0.7995833333333334, 1e-12);
  EXPECT_NEAR(interval.high, 6.475416666666666, 1e-12);
}

// Two strata of one value each: a quarter of the samples has the first twice, a quarter the second.
TEST(BootstrapTest, NestedIntervalDrawsStrataToo) {
  const Strata scores = {{0.0}, {1.0}};
  const auto mean = [](const Strata& strata) { return (strata[0][0] + strata[1][0]) / 2.0; };
  RandomStream random(5), other(5);
  const Interval nested = NestedInterval(scores, mean, 0.6, 2000, random);
  EXPECT_EQ(nested.low, 0.0);
  EXPECT_EQ(nested.high, 1.0);
  const Interval fixed = StratifiedInterval(scores, mean, 0.6, 2000, other);
  EXPECT_EQ(fixed.low, 0.5);
  EXPECT_EQ(fixed.high, 0.5);
}

TEST(BootstrapTest, IntervalOfPairedDifferencesAgreesWithNumPy) {
  const std::vector<double> differences = {5.0, -4.75, 6.0, -3.0, 10.25, -8.75};
  RandomStream random(7);
  const Interval interval = BootstrapInterval(differences, Mean, 0.95, 400, random);
  EXPECT_NEAR(interval.low, -4.460416666666665, 1e-12);
  EXPECT_NEAR(interval.high, 6.2104166666666645, 1e-12);
}

TEST(BootstrapTest, StrataKeepTheirOwnRuns) {
  RandomStream random(1, "test");
  const auto distance = [](const Strata& drawn) { return Mean(drawn[1]) - Mean(drawn[0]); };
  const Interval interval =
      StratifiedInterval({{1.0, 1.0}, {4.0, 4.0, 4.0}}, distance, 0.95, 50, random);
  EXPECT_EQ(interval.low, 3.0);
  EXPECT_EQ(interval.high, 3.0);
}

}  // namespace
}  // namespace lzero::bootstrap_test
