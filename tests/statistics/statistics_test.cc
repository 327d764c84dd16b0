// Statistics against numbers worked out by hand and by NumPy and SciPy: expected_numbers.py.
#include "lzero/statistics/statistics.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::statistics_test {
namespace {

TEST(StatisticsTest, MeanAndMedian) {
  EXPECT_DOUBLE_EQ(Mean({1.0, 2.0, 6.0}), 3.0);
  EXPECT_DOUBLE_EQ(Median({6.0, 1.0, 2.0}), 2.0);
  EXPECT_DOUBLE_EQ(Median({6.0, 1.0, 2.0, 3.0}), 2.5);
  EXPECT_DOUBLE_EQ(Median({4.0}), 4.0);
}

TEST(StatisticsTest, StandardDeviationOfASample) {
  // Squared distances from 5: 9 1 1 1 0 0 4 16 = 32; 32 / 7.
  EXPECT_DOUBLE_EQ(StandardDeviation({2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0}),
                   std::sqrt(32.0 / 7.0));
  EXPECT_EQ(StandardDeviation({3.0}), 0.0);
}

TEST(StatisticsTest, InterquartileMeanLeavesOutAQuarterOnEachSide) {
  // Eight values lose the two smallest and the two largest: (3 + 4 + 5 + 6) / 4.
  EXPECT_DOUBLE_EQ(InterquartileMean({100.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, -50.0}),
                   (2.0 + 3.0 + 4.0 + 5.0) / 4.0);
  // Seven values lose one on each side: floor(7 / 4) = 1.
  EXPECT_DOUBLE_EQ(InterquartileMean({7.0, 6.0, 5.0, 4.0, 3.0, 2.0, 100.0}), 5.0);
  EXPECT_DOUBLE_EQ(InterquartileMean({1.0, 2.0, 9.0}), 4.0);
}

TEST(StatisticsTest, QuantileIsLinearBetweenNeighbours) {
  const std::vector<double> values = {30.0, 10.0, 20.0, 40.0};
  EXPECT_DOUBLE_EQ(Quantile(values, 0.0), 10.0);
  EXPECT_DOUBLE_EQ(Quantile(values, 1.0), 40.0);
  EXPECT_DOUBLE_EQ(Quantile(values, 0.25), 17.5);  // position 0.75 between 10 and 20
}

TEST(StatisticsTest, AgreesWithNumPyAndSciPy) {
  const std::vector<double> values = {12.5, 3.25, 8.0, 8.0, 15.75, -2.5,
                                      9.1,  0.3,  0.1, 0.2, 0.4,   0.9};
  EXPECT_NEAR(Mean(values), 4.666666666666667, 1e-12);
  EXPECT_NEAR(Median(values), 2.075, 1e-12);
  EXPECT_NEAR(StandardDeviation(values), 5.813086073418292, 1e-12);
  EXPECT_NEAR(InterquartileMean(values), 3.475, 1e-12);
  EXPECT_NEAR(OptimalityGap(values, 9.0), 5.195833333333333, 1e-12);
  EXPECT_NEAR(Quantile(values, 0.1), 0.11000000000000001, 1e-12);
}

TEST(StatisticsDeathTest, NeedsValues) {
  EXPECT_DEATH(Mean({}), "mean of no values");
  EXPECT_DEATH(Median({}), "statistics of no values");
}

TEST(MedianOrNeverTest, WhatNeverCameIsInfinitelyLarge) {
  const std::optional<int64_t> early = 100, late = 300, never;
  EXPECT_EQ(MedianOrNever({early}), 100);
  EXPECT_EQ(MedianOrNever({late, early}), 200);
  EXPECT_EQ(MedianOrNever({never, late, early}), 300);
  EXPECT_EQ(MedianOrNever({never, late}), std::nullopt);
  EXPECT_EQ(MedianOrNever({never, never, early}), std::nullopt);
  EXPECT_EQ(MedianOrNever({never}), std::nullopt);
}

}  // namespace
}  // namespace lzero::statistics_test
