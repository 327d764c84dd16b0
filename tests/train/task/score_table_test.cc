#include "lzero/train/task/score_table.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::score_table_test {
namespace {

using testing::ElementsAre;

TEST(ScoreTableTest, ScoresAreBoundedInWhatTheyComeToAndNotInTheTable) {
  const ScoreTable table({{"a", 10.0, 2.5},
                          {"b", 0.0, -0.5},
                          {"c", 7.0, std::nullopt},
                          {"d", 1.0, 0.6},
                          {"e", 1.0, 0.8}});
  EXPECT_THAT(table.Bounded(), ElementsAre(1.2, 0.0, 0.6, 0.8));
  EXPECT_DOUBLE_EQ(*table.Mean(), 0.65);
  MetricMap metrics;
  table.AddMetrics(&metrics);
  EXPECT_DOUBLE_EQ(metrics.at("score/mean"), 0.65);
  EXPECT_DOUBLE_EQ(metrics.at("score/median"), 0.7);
  EXPECT_DOUBLE_EQ(metrics.at("score/iqm"), 0.7);
  EXPECT_DOUBLE_EQ(metrics.at("score/worst"), 0.0);
  EXPECT_DOUBLE_EQ(metrics.at("task/a/score"), 2.5);
  EXPECT_DOUBLE_EQ(metrics.at("task/b/score"), -0.5);
  EXPECT_FALSE(metrics.contains("task/c/score"));
  EXPECT_EQ(table.Text(),
            "score 0.65, worst b -0.50: a 2.50, b -0.50, c (return 7.00), d 0.60, e 0.80");
}

TEST(ScoreTableTest, WithoutScalesThereAreReturns) {
  const ScoreTable table({{"a", 10.0, std::nullopt}, {"b", -1.0, std::nullopt}});
  EXPECT_EQ(table.Mean(), std::nullopt);
  MetricMap metrics;
  table.AddMetrics(&metrics);
  EXPECT_TRUE(metrics.empty());
  EXPECT_EQ(table.Text(), "no score: a (return 10.00), b (return -1.00)");
}

}  // namespace
}  // namespace lzero::score_table_test
