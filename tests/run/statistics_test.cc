// Statistics against numbers worked out by hand.
#include "lzero/run/statistics.h"

#include <cmath>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/files.h"
#include "nlohmann/json.hpp"
#include "tests/run/test_folder.h"

namespace lzero::statistics_test {
namespace {

using ::testing::HasSubstr;

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

TEST(StatisticsTest, BootstrapOfEqualValuesHasNoWidth) {
  RandomStream random(1, "test");
  const Interval interval = BootstrapInterval({5.0, 5.0, 5.0}, Mean, 0.95, 100, random);
  EXPECT_EQ(interval.low, 5.0);
  EXPECT_EQ(interval.high, 5.0);
}

TEST(StatisticsTest, BootstrapOfTheMeanAgreesWithTheNormalApproximation) {
  // 400 values, half 0 and half 1: the mean's standard error is 0.5 / 20 = 0.025, so the 95 %
  // interval is 0.5 -+ 1.96 * 0.025 = [0.451, 0.549] up to the resampling error.
  std::vector<double> values(400, 0.0);
  std::fill(values.begin(), values.begin() + 200, 1.0);
  RandomStream random(7, "test");
  const Interval interval = BootstrapInterval(values, Mean, 0.95, 2000, random);
  EXPECT_NEAR(interval.low, 0.451, 0.006);
  EXPECT_NEAR(interval.high, 0.549, 0.006);
}

TEST(StatisticsTest, BootstrapDependsOnTheStreamAlone) {
  const std::vector<double> values = {1.0, 4.0, 9.0, 16.0};
  RandomStream first(3, "test"), second(3, "test"), other(4, "test");
  const Interval a = BootstrapInterval(values, Mean, 0.9, 50, first);
  const Interval b = BootstrapInterval(values, Mean, 0.9, 50, second);
  const Interval c = BootstrapInterval(values, Mean, 0.9, 50, other);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
  EXPECT_TRUE(a.low != c.low || a.high != c.high);
}

std::vector<EpisodeRow> ThreeEpisodes() {
  return {{11, 200.0, 200, false, true}, {12, 9.5, 10, true, false}, {13, 0.1, 3, true, false}};
}

TEST(StatisticsTest, CsvHasOneLineAnEpisode) {
  EXPECT_EQ(EpisodesCsv(ThreeEpisodes()),
            "episode,seed,return,length,terminated,truncated\n"
            "0,11,200,200,0,1\n"
            "1,12,9.5,10,1,0\n"
            "2,13,0.1,3,1,0\n");
}

TEST(StatisticsTest, SummaryOfEpisodes) {
  const ReturnSummary summary = SummarizeEpisodes(ThreeEpisodes(), 5);
  EXPECT_EQ(summary.num_episodes, 3);
  EXPECT_DOUBLE_EQ(summary.mean, 209.6 / 3.0);
  EXPECT_DOUBLE_EQ(summary.median, 9.5);
  EXPECT_DOUBLE_EQ(summary.interquartile_mean, 209.6 / 3.0);
  EXPECT_EQ(summary.min, 0.1);
  EXPECT_EQ(summary.max, 200.0);
  EXPECT_DOUBLE_EQ(summary.mean_length, 71.0);
  EXPECT_LE(summary.interval.low, summary.mean);
  EXPECT_GE(summary.interval.high, summary.mean);
}

TEST(StatisticsTest, WritesAnEvaluation) {
  const TestFolder test_folder;
  const std::string& run_dir = test_folder.path();
  ReturnSummary summary = SummarizeEpisodes(ThreeEpisodes(), 5);
  summary.standard_deviation = std::numeric_limits<double>::quiet_NaN();
  const auto folder = WriteEvaluation(run_dir, 2500, summary, ThreeEpisodes());
  ASSERT_TRUE(folder.ok()) << folder.status();
  EXPECT_EQ(*folder, run_dir + "/eval/step_000002500");
  EXPECT_EQ(*ReadFile(*folder + "/episodes.csv"), EpisodesCsv(ThreeEpisodes()));
  const auto json = nlohmann::json::parse(*ReadFile(*folder + "/summary.json"));
  EXPECT_EQ(json["env_steps"], 2500);
  EXPECT_EQ(json["num_episodes"], 3);
  EXPECT_EQ(json["return_median"], 9.5);
  EXPECT_EQ(json["return_iqm_interval"].size(), 2u);
  EXPECT_TRUE(json["return_std"].is_null());  // JSON has no NaN
}

TEST(StatisticsDeathTest, NeedsValues) {
  EXPECT_DEATH(Mean({}), "mean of no values");
  EXPECT_DEATH(Median({}), "statistics of no values");
}

}  // namespace
}  // namespace lzero::statistics_test
