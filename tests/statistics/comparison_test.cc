// Comparisons against counts by hand and numbers of NumPy and SciPy: expected_numbers.py.
#include "lzero/statistics/comparison.h"

#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::comparison_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

const Strata kX = {{12.5, 3.25, 8.0, 8.0, 15.75, -2.5, 9.1}, {0.3, 0.1, 0.2, 0.4, 0.9}};
const Strata kY = {{7.5, 8.0, 2.0, 11.0, 5.5, 6.25}, {0.2, 0.5, 0.1, 0.05}};

TEST(ComparisonTest, CountsWinsAndHalvesTies) {
  // 3 beats 1 and 2 and ties 3; 1 ties 1: (2.5 + 0.5) / 6.
  EXPECT_DOUBLE_EQ(ProbabilityOfImprovement({{3.0, 1.0}}, {{1.0, 2.0, 3.0}}), 0.5);
  EXPECT_EQ(ProbabilityOfImprovement({{2.0, 2.0}}, {{1.0}}), 1.0);
  EXPECT_EQ(ProbabilityOfImprovement({{0.0}}, {{1.0, 1.0}}), 0.0);
  // Mean over tasks, whatever their sizes.
  EXPECT_EQ(ProbabilityOfImprovement({{2.0}, {1.0}}, {{1.0}, {2.0, 2.0, 2.0}}), 0.5);
}

TEST(ComparisonTest, AgreesWithSciPy) {
  EXPECT_NEAR(ProbabilityOfImprovement(kX, kY), 0.6714285714285715, 1e-12);
  RandomStream random(6);
  const Interval interval = ProbabilityOfImprovementInterval(kX, kY, 0.95, 300, random);
  EXPECT_NEAR(interval.low, 0.4434970238095239, 1e-12);
  EXPECT_NEAR(interval.high, 0.9011904761904761, 1e-12);
}

TEST(ComparisonTest, ProfileIsTheShareAbove) {
  EXPECT_THAT(PerformanceProfile(kX, {-5.0, 0.1, 0.35, 8.0, 15.75}),
              ElementsAre(1.0, DoubleNear(0.8333333333333334, 1e-12),
                          DoubleNear(0.6666666666666666, 1e-12), 0.25, 0.0));
}

TEST(ComparisonDeathTest, NeedsTheSameTasks) {
  EXPECT_DEATH(ProbabilityOfImprovement(kX, {{1.0}}), "got 2 and 1 tasks");
  EXPECT_DEATH(ProbabilityOfImprovement(Strata(1), {{1.0}}), "a task without runs");
}

}  // namespace
}  // namespace lzero::comparison_test
