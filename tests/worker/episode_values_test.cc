#include "lzero/worker/episode_values.h"

#include <cmath>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::episode_values_test {
namespace {

using ::testing::HasSubstr;

TEST(EpisodeValues, ErrorIsTheDistanceToTheReturnThatFollowed) {
  EpisodeValues values;
  EXPECT_EQ(values.Compare(0.5, true).error, 0.0);
  values.Add(2.0f, 1.0f, 0);
  values.Add(2.0f, 0.0f, 0);
  values.Add(2.5f, 4.0f, 0);
  EXPECT_EQ(values.num_steps(), 3);
  // Returns 1 + 0.5 * 0 + 0.25 * 4 = 2, 0.5 * 4 = 2 and 4.
  EXPECT_DOUBLE_EQ(values.Compare(0.5, true).error, 0.0 + 0.0 + 1.5);
  // Returns 5, 4 and 4.
  EXPECT_DOUBLE_EQ(values.Compare(1.0, true).error, 3.0 + 2.0 + 1.5);
  values.Begin();
  EXPECT_EQ(values.num_steps(), 0);
  values.Add(-1.0f, 0.25f, 0);
  EXPECT_DOUBLE_EQ(values.Compare(0.5, true).error, 1.25);
}

TEST(EpisodeValues, TheLastValueStandsForWhatWasCutOff) {
  EpisodeValues values;
  EXPECT_EQ(values.Compare(0.5, false).count, 0);
  values.Add(2.0f, 1.0f, 0);
  values.Add(3.0f, -1.0f, 1);
  values.Add(4.0f, 99.0f, 1);
  // -1 + 0.5 * 4 = 1; 1 - 0.5 * 1 = 0.5.
  const ValueSums sums = values.Compare(0.5, false);
  EXPECT_EQ(sums.count, 2);
  EXPECT_DOUBLE_EQ(sums.error, 2.0 + 1.5);
  EXPECT_DOUBLE_EQ(sums.followed, 1.5);
  values.Begin();
  values.Add(2.0f, 1.0f, 0);
  EXPECT_EQ(values.Compare(0.5, false).count, 0);
}

// Players 0, 1, 1, 0: the last move wins a point for player 0, the one before costs player 1 two.
TEST(EpisodeValues, ReturnsAreFromTheViewOfThePlayerToMove) {
  EpisodeValues values;
  values.Add(1.0f, 0.0f, 0);
  values.Add(1.0f, 0.0f, 1);
  values.Add(-2.5f, -2.0f, 1);
  values.Add(1.0f, 1.0f, 0);
  // From the last step: 1; -2 - 0.5 * 1 = -2.5; 0.5 * -2.5 = -1.25; -0.5 * -1.25 = 0.625.
  EXPECT_DOUBLE_EQ(values.Compare(0.5, true).error, 0.0 + 0.0 + 2.25 + 0.375);
}

TEST(EpisodeValues, GoOnAfterACheckpoint) {
  EpisodeValues values, restored;
  values.Add(1.0f, 0.5f, 0);
  values.Add(-1.0f, 2.0f, 1);
  std::vector<NamedArray> arrays;
  values.Export("env3.", &arrays);
  restored.Add(9.0f, 9.0f, 0);
  ASSERT_TRUE(restored.Import("env3.", arrays).ok());
  EXPECT_EQ(restored.num_steps(), 2);
  for (EpisodeValues* each : {&values, &restored}) {
    each->Add(0.0f, 4.0f, 0);
    // 4; 2 - 4 = -2; 0.5 + 2 = 2.5.
    EXPECT_DOUBLE_EQ(each->Compare(1.0, true).error, 4.0 + 1.0 + 1.5);
  }
}

TEST(EpisodeValues, AnOlderStateLeavesTheEpisodeEmpty) {
  EpisodeValues values;
  values.Add(1.0f, 0.5f, 0);
  ASSERT_TRUE(values.Import("env3.", {}).ok());
  EXPECT_EQ(values.num_steps(), 0);
}

TEST(EpisodeValues, ArraysThatDoNotFitAreRefused) {
  EpisodeValues values;
  values.Add(1.0f, 0.5f, 0);
  std::vector<NamedArray> arrays;
  values.Export("env3.", &arrays);
  std::vector<NamedArray> damaged = arrays;
  damaged[2] = MakeNamedArray<int32_t>("env3.players", {0, 1});
  const absl::Status status = values.Import("env3.", damaged);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(),
            "the values of env3. do not fit: 1 root values, 1 rewards, 2 players");
  damaged = arrays;
  damaged.erase(damaged.begin() + 1);
  EXPECT_THAT(std::string(values.Import("env3.", damaged).message()), HasSubstr("env3.rewards"));
}

// Values 1, 2, 4 before returns 3, 2, 1 (rewards 1 each, no discount): by hand.
TEST(EpisodeValuesTest, CalibrationByHand) {
  EpisodeValues values;
  values.Begin();
  for (const float value : {1.0f, 2.0f, 4.0f}) values.Add(value, 1.0f, 0);
  ValueSums sums = values.Compare(1.0, true);
  EXPECT_EQ(sums.count, 3);
  EXPECT_DOUBLE_EQ(sums.error, 2.0 + 0.0 + 3.0);
  EXPECT_DOUBLE_EQ(sums.Bias(), 7.0 / 3 - 2.0);
  EXPECT_DOUBLE_EQ(sums.MeanError(), 5.0 / 3);
  // Deviations (-4, -1, 5) / 3 and (1, 0, -1): -3 / sqrt(42 / 9 * 2).
  EXPECT_NEAR(sums.Correlation(), -3.0 / std::sqrt(84.0 / 9.0), 1e-12);
  ValueSums twice = sums;
  twice += sums;
  EXPECT_EQ(twice.count, 6);
  EXPECT_NEAR(twice.Correlation(), sums.Correlation(), 1e-12);
}

// Returns 6, 5, .. 1; sorted by value: -1 -> 1, 1 -> 5, 2 -> 6, 3 -> 4, 4 -> 3, 9 -> 2.
TEST(EpisodeValuesTest, GroupsOfStepsByValue) {
  EpisodeValues values;
  for (const float value : {2.0f, 1.0f, 3.0f, 4.0f, 9.0f, -1.0f}) values.Add(value, 1.0f, 0);
  std::vector<ValueAndReturn> steps;
  EXPECT_EQ(values.Compare(1.0, true, &steps).count, 6);
  ASSERT_EQ(steps.size(), 6u);
  const auto groups = Calibration(steps, 3);
  ASSERT_EQ(groups.size(), 3u);
  EXPECT_DOUBLE_EQ(groups[0].value, 0.0);
  EXPECT_DOUBLE_EQ(groups[0].followed, 3.0);
  EXPECT_DOUBLE_EQ(groups[2].value, 6.5);
  EXPECT_DOUBLE_EQ(groups[2].followed, 2.5);
  EXPECT_EQ(Calibration(steps, 10).size(), 6u);
  EXPECT_TRUE(Calibration({}, 10).empty());
}

TEST(EpisodeValuesTest, WhatDoesNotVaryHasNoCorrelation) {
  EXPECT_EQ(ValueSums().Correlation(), 0.0);
  EXPECT_EQ(ValueSums().Bias(), 0.0);
  EXPECT_EQ(ValueSums().MeanError(), 0.0);
  EpisodeValues values;
  values.Begin();
  for (int i = 0; i < 5; ++i) values.Add(0.1f, static_cast<float>(i), 0);
  EXPECT_EQ(values.Compare(0.9, true).Correlation(), 0.0);
}

}  // namespace
}  // namespace lzero::episode_values_test
