#include "lzero/train/task/task_metrics.h"

#include "gtest/gtest.h"

namespace lzero::task_metrics_test {
namespace {

TEST(TaskMetricsTest, AnEvaluationHasItsMeanAndNothingOfValuesThatThereAreNot) {
  const std::vector<EvaluatedEpisode> episodes = {{.episode_return = 3.0}, {.episode_return = 4.0}};
  EXPECT_EQ(MeanReturn(episodes), 3.5);
  const MetricMap metrics = EvaluationMetrics({episodes, std::nullopt});
  EXPECT_EQ(metrics, (MetricMap{{"eval/return_mean", 3.5}}));
  EXPECT_EQ(EvaluationMetrics({episodes, 0.75}).at("eval/grade"), 0.75);
}

TEST(TaskMetricsTest, MetricsOfATaskAreThoseUnderItsName) {
  const MetricMap all = {
      {"task/a/loss/total", 1.0}, {"task/ab/loss/total", 2.0}, {"grad/norm", 3.0}};
  EXPECT_EQ(MetricsUnder("task/a/", all), (MetricMap{{"loss/total", 1.0}}));
  EXPECT_EQ(MetricsUnder("", all), all);
}

}  // namespace
}  // namespace lzero::task_metrics_test
