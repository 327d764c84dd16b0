#include "envs/boards/grading/grading.h"

#include <gtest/gtest.h>

namespace lzero::grading_test {
namespace {

TimeStep Position(const std::vector<uint8_t>& mask) {
  TimeStep step;
  step.legal_action_mask = mask;
  return step;
}

BatchPolicy Always(const std::vector<int32_t>& actions) {
  return [actions](absl::Span<const TimeStep>) { return actions; };
}

std::string NameOf(size_t i) { return "name of " + std::to_string(i); }

TEST(GradingTest, LegalActionsAreHandedOn) {
  const std::vector<TimeStep> positions = {Position({1, 0, 1}), Position({0, 1, 0})};
  EXPECT_EQ(*ChooseLegalActions(Always({2, 1}), positions, NameOf), (std::vector<int32_t>{2, 1}));
}

TEST(GradingTest, UnusablePoliciesAreRefused) {
  const std::vector<TimeStep> positions = {Position({1, 0, 1}), Position({0, 1, 0})};
  const auto error = [&](const BatchPolicy& policy) {
    return std::string(ChooseLegalActions(policy, positions, NameOf).status().message());
  };
  EXPECT_EQ(error(Always({0})), "the policy gave 1 actions for 2 positions");
  EXPECT_EQ(error(Always({0, 0})),
            "the policy plays the illegal action 0 in position 1:\nname of 1");
  EXPECT_EQ(error(Always({3, 1})),
            "the policy plays the illegal action 3 in position 0:\nname of 0");
  EXPECT_EQ(error(Always({-1, 1})),
            "the policy plays the illegal action -1 in position 0:\nname of 0");
  const BatchPolicy fails = [](absl::Span<const TimeStep>) -> absl::StatusOr<std::vector<int32_t>> {
    return absl::UnavailableError("no engine");
  };
  EXPECT_EQ(error(fails), "no engine");
}

TEST(GradingTest, MovesAreCountedByHand) {
  GradeReport report;
  EXPECT_EQ(CountMove(Position({1, 1, 1}), {0, 2}, 2, &report), nullptr);
  GradeCounts group;
  // Nothing to get wrong.
  EXPECT_EQ(CountMove(Position({1, 0, 1}), {0, 2}, 0, &report, &group), nullptr);
  Blunder* blunder = CountMove(Position({1, 1, 1}), {0, 2}, 1, &report, &group);
  ASSERT_NE(blunder, nullptr);
  EXPECT_EQ(blunder->action, 1);
  EXPECT_EQ(blunder->optimal_actions, (std::vector<int32_t>{0, 2}));
  EXPECT_EQ(report.num_positions, 3);
  EXPECT_EQ(report.num_optimal, 2);
  EXPECT_EQ(report.num_nontrivial, 2);
  EXPECT_EQ(report.num_nontrivial_optimal, 1);
  EXPECT_EQ(report.blunders.size(), 1u);
  EXPECT_FALSE(report.has_lines());
  EXPECT_EQ(group.num_positions, 2);
  EXPECT_EQ(group.num_optimal, 1);
  EXPECT_EQ(group.num_nontrivial, 1);
  EXPECT_EQ(group.num_nontrivial_optimal, 0);
  EXPECT_EQ(group.optimal_fraction(), 0.5);
}

}  // namespace
}  // namespace lzero::grading_test
