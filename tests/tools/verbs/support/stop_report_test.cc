#include "tools/verbs/support/stop_report.h"

#include "gtest/gtest.h"

namespace lzero::stop_report_test {
namespace {

StopConfig Rule() {
  StopConfig stop;
  stop.max_env_steps = 400;
  stop.max_updates = std::nullopt;
  stop.target_return = 195;
  stop.patience = 3;
  return stop;
}

TEST(StopReportTest, ATargetThatWasNotReachedIsToldWithTheBest) {
  StopConfig stop = Rule();
  TrainingState state;
  EXPECT_EQ(NotSolvedText(stop, state), "target 195 in 3 evaluations in a row");
  state.best_return = 143.2;
  stop.patience = 1;
  EXPECT_EQ(NotSolvedText(stop, state), "target 195, best 143.20");
  state.solved_env_steps = 300;
  EXPECT_EQ(NotSolvedText(stop, state), "");
  stop.target_return = std::nullopt;
  state.solved_env_steps = std::nullopt;
  EXPECT_EQ(NotSolvedText(stop, state), "");
}

TEST(StopReportTest, ARunWithoutUpdatesSaysWhy) {
  TrainConfig train;
  train.start_env_steps = 1000;
  train.updates_per_env_step = 0.25;
  TrainingState state;
  state.env_steps = 1003;
  EXPECT_EQ(NothingLearnedText(train, state),
            "not one update was due: train.updates_per_env_step 0.25 for each of 3 steps after "
            "train.start_env_steps 1000");
  state.env_steps = 1004;
  EXPECT_EQ(NothingLearnedText(train, state),
            "not one update was made: no stored position could be sampled yet, because no episode "
            "had ended and none was as long as its targets reach (replay.num_unroll_steps + "
            "replay.td_steps); more stop.max_env_steps, fewer env.num_collectors or a smaller "
            "replay.td_steps help");
  state.updates = 1;
  EXPECT_EQ(NothingLearnedText(train, state), "");
}

TEST(StopReportTest, ARunThatMayGoOnHasMetNothing) {
  TrainingState state;
  state.env_steps = 399;
  state.target_streak = 2;
  EXPECT_EQ(MetStopRuleText(Rule(), state, "lzero resume run"), "");
}

TEST(StopReportTest, EveryMetPartIsNamedWithTheCommandThatGoesOn) {
  StopConfig stop = Rule();
  TrainingState state;
  state.env_steps = 400;
  EXPECT_EQ(MetStopRuleText(stop, state, "lzero resume run"),
            "stop.max_env_steps=400 is reached (400 are done); go on with:  lzero resume run "
            "stop.max_env_steps=800");
  state.target_streak = 3;
  state.env_steps = 408;
  stop.max_updates = 30;
  state.updates = 30;
  EXPECT_EQ(
      MetStopRuleText(stop, state, "lzero resume run"),
      "stop.target_return=195 is reached and stop.max_env_steps=400 is reached (408 are done) "
      "and stop.max_updates=30 is reached (30 are done); go on with:  lzero resume run "
      "stop.end_at_target=false stop.max_env_steps=816 stop.max_updates=60");
  stop.end_at_target = false;
  stop.max_env_steps = std::nullopt;
  EXPECT_EQ(MetStopRuleText(stop, state, "r"),
            "stop.max_updates=30 is reached (30 are done); go on with:  r stop.max_updates=60");
}

}  // namespace
}  // namespace lzero::stop_report_test
