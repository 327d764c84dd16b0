// Curves of groups, worked out by hand.
#include "lzero/report/group_curve.h"

#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::group_curve_test {
namespace {

using ::testing::ElementsAre;

RunRecord RunOf(const std::vector<std::pair<int64_t, double>>& evaluations) {
  RunRecord run;
  run.state = "finished";
  run.config.stop.target_return = 100.0;
  run.config.stop.patience = 1;
  for (const auto& [env_steps, mean] : evaluations) {
    run.evaluations.push_back({env_steps, 8, mean, ""});
  }
  return run;
}

TEST(GroupCurveTest, IsTheMeanOfInterpolatedRunsWhereAllHaveValues) {
  const GroupCurve curve =
      CurveOf({"", {RunOf({{0, 0.0}, {20, 20.0}}), RunOf({{10, 50.0}, {30, 70.0}})}});
  EXPECT_THAT(curve.env_steps, ElementsAre(10, 20));
  EXPECT_THAT(curve.value, ElementsAre(30, 40));  // (10 + 50) / 2, (20 + 60) / 2
  EXPECT_TRUE(curve.low.empty());
}

TEST(GroupCurveTest, SolvedRunsAreHeld) {
  const GroupCurve curve =
      CurveOf({"", {RunOf({{0, 0.0}, {10, 100.0}}), RunOf({{0, 0.0}, {20, 40.0}, {30, 90.0}})}});
  EXPECT_THAT(curve.env_steps, ElementsAre(0, 10, 20, 30));
  EXPECT_THAT(curve.value, ElementsAre(0, 60, 70, 95));
}

TEST(GroupCurveTest, FiveRunsHaveABand) {
  RunGroup group;
  for (int i = 0; i < 5; ++i) group.runs.push_back(RunOf({{10, i * 10.0}, {20, 50.0}}));
  const GroupCurve curve = CurveOf(group);
  EXPECT_THAT(curve.value, ElementsAre(20, 50));
  ASSERT_EQ(curve.low.size(), 2u);
  EXPECT_LT(curve.low[0], 20.0);
  EXPECT_GT(curve.high[0], 20.0);
  EXPECT_EQ(curve.low[1], 50.0);
}

TEST(GroupCurveTest, OneRunHasNone) {
  EXPECT_TRUE(CurveOf({"", {RunOf({{1, 2.0}}), RunRecord()}}).env_steps.empty());
}

}  // namespace
}  // namespace lzero::group_curve_test
