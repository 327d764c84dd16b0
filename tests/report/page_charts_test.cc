// Which charts a page has, and what is in them.
#include "lzero/report/page_charts.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::page_charts_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Groups of so many runs, each with two evaluations and the same metrics.
ReportInput InputOf(const std::vector<int>& sizes) {
  ReportInput input;
  for (const int size : sizes) {
    RunGroup group{"group" + std::to_string(size), {}};
    std::vector<RunMetrics> metrics;
    for (int seed = 0; seed < size; ++seed) {
      RunRecord run;
      run.config.seed = seed;
      run.evaluations = {{100, 8, 1.0, ""}, {200, 8, 2.0 + seed, ""}};
      group.runs.push_back(run);
      metrics.push_back({{"eval/return_mean", {{100, 200}, {1.0, 2.0 + seed}}},
                         {"open_loop/value_1", {{100, 200}, {9.0, 0.5}}},
                         {"open_loop/value_10", {{200}, {4.0}}},
                         {"time/share_learn", {{100, 200}, {0.0, 0.75}}},
                         {"time/share_copy", {{100, 200}, {1.0, 0.25}}},
                         {"loss/total", {{100}, {1.0}}}});
    }
    input.runs.groups.push_back(group);
    input.metrics.push_back(metrics);
  }
  input.comparison = CompareGroups(input.runs.groups, std::nullopt);
  return input;
}

size_t Count(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(PageChartsTest, ALineARunAndABandFromFiveRunsOn) {
  const std::string few = ReturnCharts(InputOf({4}));
  EXPECT_EQ(Count(few, " thin\""), 4u);
  EXPECT_EQ(Count(few, " bold\""), 1u);
  EXPECT_EQ(Count(few, " band\""), 0u);
  EXPECT_THAT(few, HasSubstr("No band below five runs"));
  EXPECT_EQ(Count(ReturnCharts(InputOf({5, 5})), " band\""), 2u);
  const std::string alone = ReturnCharts(InputOf({1}));
  EXPECT_EQ(Count(alone, " solo\""), 1u);
  EXPECT_EQ(Count(alone, " bold\""), 0u);
}

TEST(PageChartsTest, WhatIsNotEvaluatedHasALineAndNoChart) {
  ReportInput input = InputOf({1});
  input.metrics[0][0].clear();
  EXPECT_EQ(ReturnCharts(input), "<p class=\"note\">Not evaluated yet.</p>\n");
}

TEST(PageChartsTest, ATargetThatAllHaveIsDrawn) {
  ReportInput input = InputOf({2, 3});
  EXPECT_THAT(ReturnCharts(input), Not(HasSubstr("class=\"level\"")));
  for (RunGroup& group : input.runs.groups) {
    for (RunRecord& run : group.runs) run.config.stop.target_return = 3.0;
  }
  EXPECT_THAT(ReturnCharts(input), HasSubstr(">- - target 3</text>"));
  input.runs.groups[1].runs[0].config.stop.target_return = 4.0;
  EXPECT_THAT(ReturnCharts(input), Not(HasSubstr("class=\"level\"")));
}

TEST(PageChartsTest, EachEnvironmentHasItsOwnScale) {
  ReportInput input = InputOf({1, 1});
  EXPECT_EQ(Count(ReturnCharts(input), "<svg"), 1u);
  input.runs.groups[1].runs[0].config.env.id = "catch";
  const std::string charts = ReturnCharts(input);
  EXPECT_EQ(Count(charts, "<svg"), 2u);
  EXPECT_THAT(charts, HasSubstr(">catch: mean return of evaluations"));
}

TEST(PageChartsTest, ARunOfSeveralTasksHasTheMeanScoreAndAChartATask) {
  EXPECT_EQ(TaskCharts(InputOf({1})), "");
  ReportInput input = InputOf({1});
  input.runs.groups[0].runs[0].config.tasks.resize(2);
  input.metrics[0][0] = {{"score/mean", {{100, 200}, {0.5, 0.75}}},
                         {"task/pong/score", {{100, 200}, {0.5, 1.0}}},
                         {"task/boxing/score", {{100, 200}, {0.5, 0.5}}},
                         {"task/pong/eval/return_mean", {{100, 200}, {-9.0, 21.0}}},
                         {"task/pong/loss/value", {{100, 200}, {1.0, 0.5}}}};
  EXPECT_THAT(ReturnCharts(input), HasSubstr(">mean score of the tasks (greedy play)<"));
  const std::string charts = TaskCharts(input);
  EXPECT_EQ(Count(charts, "<figure>"), 3u);
  EXPECT_THAT(charts, HasSubstr(">boxing: score<"));
  EXPECT_THAT(charts, HasSubstr(">pong: mean return<"));
  for (const auto& [name, series] : input.metrics[0][0]) {
    EXPECT_EQ(IsChartedMetric(name), name != "task/pong/loss/value") << name;
  }
}

TEST(PageChartsTest, TimeIsThatOfTheLastLine) {
  EXPECT_THAT(TimeStrips(InputOf({2})), HasSubstr("learn 75 %"));
  ReportInput deterministic = InputOf({1});
  deterministic.metrics[0][0].clear();
  EXPECT_EQ(TimeStrips(deterministic), "");
}

TEST(PageChartsTest, OpenLoopIsDrawnAgainstImaginedSteps) {
  // The last values, 0.5 at 1 and 4 at 10; the plot is 242 x 128 from (46, 28), 4.2 at its top.
  const std::string charts = TrustCharts(InputOf({1}));
  EXPECT_THAT(charts, HasSubstr("points=\"46.0,140.8 288.0,34.1\""));
  EXPECT_EQ(Count(charts, "<figure>"), 1u);  // the others have no values
  EXPECT_EQ(Count(LearningCharts(InputOf({1})), "<figure>"), 1u);
}

TEST(PageChartsTest, CalibrationIsReturnsOverValues) {
  ReportInput input = InputOf({1});
  for (const auto& [name, value] :
       {std::pair("value_1", 0.0), std::pair("return_1", 1.0), std::pair("value_2", 2.0),
        std::pair("return_2", 0.0), std::pair("value_3", 9.0)}) {
    input.metrics[0][0][absl::StrCat("calibration/", name)] = {{100, 200}, {7.0, value}};
  }
  // The range is 0 to 2 with 5 % around it, so 1 lies in the middle of 28 to 156.
  const std::string charts = TrustCharts(input);
  EXPECT_THAT(charts, HasSubstr("solo\" points=\"46.0,92.0 288.0,150.2\""));
  EXPECT_THAT(charts, HasSubstr("level\" points=\"46.0,150.2 288.0,33.8\""));
}

TEST(PageChartsTest, ProfilesAreLevelBetweenReturns) {
  // Final returns 2 and 3, shares 1, 0.5, 0 above 1.95, 2, 3; 894 x 178 from (46, 28) of 940 x 240.
  const std::string chart = ProfileChart(InputOf({2}));
  EXPECT_THAT(chart, HasSubstr("points=\"46.0,36.5 86.1,36.5 86.1,121.2 "));
  EXPECT_EQ(Count(ProfileChart(InputOf({2, 5})), " band\""), 1u);
}

TEST(PageChartsTest, KnowsWhatItDraws) {
  EXPECT_TRUE(IsChartedMetric("eval/return_mean"));
  EXPECT_TRUE(IsChartedMetric("open_loop/reward_5"));
  EXPECT_TRUE(IsChartedMetric("time/share_learn"));
  EXPECT_TRUE(IsChartedMetric("latent/spread"));
  EXPECT_FALSE(IsChartedMetric("value/mean"));
}

}  // namespace
}  // namespace lzero::page_charts_test
