// Decimation against points picked by hand.
#include "lzero/report/decimate.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::decimate_test {
namespace {

using ::testing::ElementsAre;

TEST(DecimateTest, KeepsLowestAndHighestOfEachColumnInTheirOrder) {
  // Two columns: 0 .. 4 and 5 .. 9.
  const MetricSeries series = {{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, {3, 9, 4, 1, 5, 2, 2, 8, 7, 6}};
  const MetricSeries few = Decimate(series, 2);
  EXPECT_THAT(few.env_steps, ElementsAre(1, 3, 5, 7));
  EXPECT_THAT(few.values, ElementsAre(9, 1, 2, 8));
}

TEST(DecimateTest, ShortAndFlatSeries) {
  EXPECT_THAT(Decimate({{5, 6}, {1, 2}}, 1).values, ElementsAre(1, 2));
  EXPECT_TRUE(Decimate({}, 10).values.empty());
  const MetricSeries level = Decimate({{1, 2, 3, 4, 5, 6}, {7, 7, 7, 7, 7, 7}}, 2);
  EXPECT_THAT(level.env_steps, ElementsAre(1, 4));
  // All at the same env steps: one column.
  EXPECT_THAT(Decimate({{3, 3, 3, 3, 3}, {1, 5, 2, 0, 4}}, 2).values, ElementsAre(5, 0));
}

TEST(DecimateTest, AMillionPointsBecomeTwoAColumn) {
  MetricSeries series;
  for (int i = 0; i < 1000000; ++i) {
    series.env_steps.push_back(i * 8.0);
    series.values.push_back(i == 123456 ? 100.0 : i % 7);
  }
  const MetricSeries few = Decimate(series, 800);
  EXPECT_LE(few.values.size(), 1600u);
  EXPECT_EQ(*std::max_element(few.values.begin(), few.values.end()), 100.0);
  EXPECT_TRUE(std::is_sorted(few.env_steps.begin(), few.env_steps.end()));
}

}  // namespace
}  // namespace lzero::decimate_test
