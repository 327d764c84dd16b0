// Numbers of groups and pairs, worked out by hand.
#include "lzero/results/group_summary.h"

#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace lzero::group_summary_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

// A run that ends at each return after 300 env steps; it reached 50 after 200 where that is more.
RunGroup GroupOf(const std::string& label, const std::vector<double>& returns) {
  RunGroup group{label, {}};
  for (const double value : returns) {
    RunRecord run;
    run.path = label + "/" + std::to_string(group.runs.size());
    run.config.seed = static_cast<int64_t>(group.runs.size());
    run.config.stop.patience = 1;
    run.state = "finished";
    run.evaluations = {{100, 8, 10.0, ""}, {200, 8, value, ""}, {300, 8, value, ""}};
    group.runs.push_back(run);
  }
  return group;
}

TEST(GroupSummaryTest, IntervalsFromFiveRunsOn) {
  const Comparison comparison = CompareGroups(
      {GroupOf("four", {1.0, 2.0, 3.0, 10.0}), GroupOf("five", {1.0, 2.0, 3.0, 10.0, 20.0})}, {});
  const GroupSummary& four = comparison.groups[0];
  EXPECT_EQ(four.final_iqm.value, 2.5);  // one cut on each side
  EXPECT_EQ(four.final_mean, 4.0);
  EXPECT_EQ(four.final_median, 2.5);
  EXPECT_FALSE(four.final_iqm.interval.has_value());
  EXPECT_FALSE(four.target.has_value());
  EXPECT_THAT(four.bests, ElementsAre(10.0, 10.0, 10.0, 10.0));
  const GroupSummary& five = comparison.groups[1];
  EXPECT_EQ(five.final_iqm.value, 5.0);
  ASSERT_TRUE(five.final_iqm.interval.has_value());
  EXPECT_LT(five.final_iqm.interval->low, 5.0);
  EXPECT_GT(five.final_iqm.interval->high, 5.0);
  EXPECT_FALSE(comparison.pairs[0].improvement.interval.has_value());
  EXPECT_STREQ(IqmName(3), "mean");
  EXPECT_STREQ(IqmName(4), "IQM");
}

TEST(GroupSummaryTest, RunsThatNeverSolvedCount) {
  const auto target_of = [](const std::vector<double>& returns) {
    return *CompareGroups({GroupOf("a", returns)}, 50.0).groups[0].target;
  };
  const TargetSummary most = target_of({60.0, 70.0, 20.0});
  EXPECT_THAT(most.env_steps, ElementsAre(200, 200, std::nullopt));
  EXPECT_EQ(most.num_solved, 2);
  EXPECT_EQ(most.median, 200.0);
  EXPECT_DOUBLE_EQ(most.gap, 10.0);  // 50 - (50 + 50 + 20) / 3
  EXPECT_EQ(target_of({60.0, 20.0, 20.0}).median, std::nullopt);
  // The middle of four lies between one that did and one that did not.
  EXPECT_EQ(target_of({60.0, 70.0, 20.0, 20.0}).median, std::nullopt);
  EXPECT_EQ(target_of({20.0, 20.0}).median, std::nullopt);
}

TEST(GroupSummaryTest, PairsAreComparedAndPairedBySeed) {
  const Comparison comparison =
      CompareGroups({GroupOf("a", {3.0, 1.0, 5.0}), GroupOf("b", {1.0, 2.0})}, {});
  ASSERT_EQ(comparison.pairs.size(), 1u);
  const PairSummary& pair = comparison.pairs[0];
  // 3 beats both, 1 ties and loses, 5 beats both: 4.5 of 6.
  EXPECT_DOUBLE_EQ(pair.improvement.value, 0.75);
  EXPECT_THAT(pair.differences, ElementsAre(2.0, -1.0));
  EXPECT_DOUBLE_EQ(pair.paired->value, 0.5);
  EXPECT_FALSE(pair.paired->interval.has_value());
}

TEST(GroupSummaryTest, DifferentEnvironmentsAreRefused) {
  std::vector<RunGroup> groups = {GroupOf("a", {1.0}), GroupOf("b", {2.0})};
  groups[1].runs[0].config.env.settings["rows"] = "7";
  const Comparison comparison = CompareGroups(groups, {});
  EXPECT_TRUE(comparison.pairs.empty());
  EXPECT_THAT(comparison.left_out, ElementsAre(HasSubstr("groups on different environments")));
}

TEST(GroupSummaryTest, ReturnsOfSelfPlayAreNotCompared) {
  std::vector<RunGroup> groups = {GroupOf("a", {1.0}), GroupOf("b", {0.0})};
  for (RunGroup& group : groups) group.runs[0].is_self_play = true;
  const Comparison comparison = CompareGroups(groups, {});
  EXPECT_TRUE(comparison.pairs.empty());
  EXPECT_THAT(comparison.left_out, ElementsAre(HasSubstr("groups that learn by self-play")));
}

TEST(GroupSummaryTest, OfManyGroupsEachIsComparedWithTheFirstOnItsEnvironment) {
  std::vector<RunGroup> groups;
  for (int i = 0; i < 8; ++i) groups.push_back(GroupOf("g", {1.0}));
  EXPECT_EQ(CompareGroups(groups, {}).pairs.size(), 28u);
  for (int i = 0; i < 2; ++i) groups.push_back(GroupOf("other", {1.0}));
  for (size_t i : {8u, 9u}) groups[i].runs[0].config.env.id = "catch";
  groups[0].runs[0].evaluations.clear();  // 1 is the first that can be compared
  const Comparison comparison = CompareGroups(groups, {});
  std::vector<std::pair<size_t, size_t>> pairs;
  for (const PairSummary& pair : comparison.pairs) pairs.emplace_back(pair.a, pair.b);
  EXPECT_THAT(pairs, ElementsAre(Pair(1, 2), Pair(1, 3), Pair(1, 4), Pair(1, 5), Pair(1, 6),
                                 Pair(1, 7), Pair(8, 9)));
  EXPECT_THAT(comparison.left_out, Contains(HasSubstr("more than 8 groups")));
}

TEST(GroupSummaryTest, FoldersAreComparedOverTheirEnvironments) {
  std::vector<RunGroup> groups = {GroupOf("a", {3.0, 1.0}), GroupOf("a2", {9.0}),
                                  GroupOf("b", {2.0, 2.0}), GroupOf("b2", {1.0, 9.0})};
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].folder = i < 2 ? "first" : "second";
    if (i % 2 == 1) {
      for (RunRecord& run : groups[i].runs) run.config.env.id = "catch";
    }
  }
  const Comparison comparison = CompareGroups(groups, {});
  ASSERT_EQ(comparison.folders.size(), 1u);
  EXPECT_THAT(comparison.folders[0].environments, ElementsAre("cartpole", "catch"));
  // 0.5 on one; 9 beats 1 and ties 9 on the other: 0.75.
  EXPECT_DOUBLE_EQ(comparison.folders[0].improvement.value, 0.625);
  // Two groups on one environment are no longer one method.
  groups[1].runs[0].config.env.id = "cartpole";
  EXPECT_TRUE(CompareGroups(groups, {}).folders.empty());
}

TEST(GroupSummaryTest, JsonHasEveryRun) {
  CollectedRuns runs;
  runs.groups = {GroupOf("a", {60.0, 20.0}), GroupOf("b", {1.0})};
  runs.groups[1].runs[0].evaluations.clear();
  runs.skipped = {{"c", "is broken"}};
  const auto json = nlohmann::json::parse(ComparisonJson(runs, CompareGroups(runs.groups, 50.0)));
  EXPECT_EQ(json["groups"][0]["final_mean"], 40.0);
  EXPECT_EQ(json["groups"][0]["num_solved"], 1);
  EXPECT_TRUE(json["groups"][0]["median_env_steps_to_target"].is_null());
  EXPECT_TRUE(json["groups"][0]["final_iqm"]["interval"].is_null());
  EXPECT_EQ(json["groups"][0]["runs"][0]["env_steps_to_target"], 200);
  EXPECT_TRUE(json["groups"][0]["runs"][1]["env_steps_to_target"].is_null());
  EXPECT_EQ(json["groups"][1]["runs"].size(), 1u);
  EXPECT_TRUE(json["pairs"].empty());
  EXPECT_EQ(json["skipped"][0]["reason"], "is broken");
}

}  // namespace
}  // namespace lzero::group_summary_test
