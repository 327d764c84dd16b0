#include "lzero/replay/replay_plan.h"

#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/replay/game_segment.h"

namespace lzero::replay_plan_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

const ReplayShape kShape{{4, 2}, 8, TerminalMode::kAbsorb};

std::string MessageOf(const ReplayConfig& config, const ReplayShape& shape = kShape) {
  const absl::Status status = CheckReplayConfig(config, shape);
  if (!status.ok()) {
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  }
  return std::string(status.message());
}

TEST(ReplayPlan, DefaultsAreFine) { EXPECT_EQ(MessageOf(ReplayConfig{}), ""); }

TEST(ReplayPlan, HorizonIsWhereTheLastBootstrapIsKnown) {
  ReplayConfig config;
  config.num_unroll_steps = 5;
  config.td_steps = 3;
  EXPECT_EQ(ReplayHorizon(config), 7);  // steps t .. t + 4, bootstrap at observation t + 7
  config.value_bootstrap = ValueBootstrap::kSearch;
  EXPECT_EQ(ReplayHorizon(config), 8);  // searched when step t + 7 is stored
  config.num_unroll_steps = 1;
  config.td_steps = 1;
  config.value_bootstrap = ValueBootstrap::kTargetNetwork;
  EXPECT_EQ(ReplayHorizon(config), 1);
}

TEST(ReplayPlan, ShapesOutOfRangeAreNamed) {
  EXPECT_EQ(MessageOf({}, {{0, 2}, 8, TerminalMode::kAbsorb}),
            "observation size is 0, allowed are 1 to 67108864");
  EXPECT_THAT(MessageOf({}, {{4, 0}, 8, TerminalMode::kAbsorb}),
              HasSubstr("number of actions is 0"));
  EXPECT_THAT(MessageOf({}, {{4, 2}, 0, TerminalMode::kAbsorb}),
              HasSubstr("number of environments is 0"));
}

TEST(ReplayPlanDeathTest, SettingsOutOfRangeNeverPassedTheirSchema) {
  ReplayConfig config;
  config.segment_length = 0;
  EXPECT_DEATH(CheckReplayConfig(config, kShape).IgnoreError(), "a config that its schema refuses");
}

TEST(ReplayPlan, ContentThatDoesNotFitIsRefused) {
  ReplayConfig config;
  config.capacity = 8 * (200 + 24) - 1;
  EXPECT_THAT(MessageOf(config),
              AllOf(HasSubstr("replay.capacity: got 1791"), HasSubstr("is 1792 transitions"),
                    HasSubstr("replay.segment_length = 200"), HasSubstr("24 steps later")));
  config.capacity = 8 * (200 + 24);
  EXPECT_EQ(MessageOf(config), "");
  // 8 environments, each with a segment being filled and a finished one, 48 KiB an observation.
  const ReplayShape images{{12288, 2}, 8, TerminalMode::kAbsorb};
  config.max_mebibytes = 150;
  EXPECT_THAT(MessageOf(config, images),
              AllOf(HasSubstr("replay.max_mebibytes: got 150"), HasSubstr("needs 151 MiB")));
  config.max_mebibytes = 151;
  EXPECT_EQ(MessageOf(config, images), "");
}

TEST(ReplayPlan, AStackIsMadeOfEqualFrames) {
  ReplayShape shape = kShape;
  shape.frame_stack = 3;
  EXPECT_EQ(MessageOf({}, shape), "frame_stack is 3, no divisor of the observation size 4");
  shape.frame_stack = 0;
  EXPECT_THAT(MessageOf({}, shape), HasSubstr("frame_stack is 0, allowed are 1 to 4"));
  shape.frame_stack = 4;
  EXPECT_EQ(MessageOf({}, shape), "");
}

// Pong in grey, four frames of 96 x 96 stacked, and what the same would take as numbers.
TEST(ReplayPlan, StackedBytesTakeASixteenth) {
  ReplayConfig config;
  config.capacity = 20000;
  ReplayShape shape{{4 * 96 * 96, 6}, 8, TerminalMode::kAbsorb};
  const double numbers = BytesPerTransition(config, shape);
  EXPECT_NEAR(numbers, 4 * 9216 * 4 * 1.005, 300);  // 201 observations of 200 steps
  shape.observation_type = ObservationType::kUint8;
  shape.frame_stack = 4;
  const double bytes = BytesPerTransition(config, shape);
  EXPECT_NEAR(bytes, 9216 * 1.02, 100);  // 204 frames
  // At most, with episodes of one step: five frames each.
  EXPECT_LT(PlannedBytes(config, shape), int64_t{20000 + 8 * 41} * 5 * 9400);
}

TEST(ReplayPlan, PlannedBytesAreTheWorstCaseOrTheCap) {
  ReplayConfig config;
  config.capacity = 10000;
  const int64_t planned = PlannedBytes(config, kShape);
  // All episodes of one step: two observations each.
  EXPECT_GT(planned, 10000 * GameSegment::BytesFor({4, 2}, 1, 0));
  EXPECT_LT(planned, 10000 * GameSegment::BytesFor({4, 2}, 1, 0) + (1 << 20));
  config.capacity = 100000000;
  config.max_mebibytes = 100;
  EXPECT_EQ(PlannedBytes(config, kShape), 100 << 20);
  EXPECT_LT(ReplayMaxTransitions(config, kShape), 3000000);  // 46 bytes and more for each
  EXPECT_LT(ReplayFixedBytes(config, kShape), 100 << 20);
}

TEST(ReplayPlan, SegmentsStoreTheContextThatSomeoneReads) {
  ReplayConfig config;
  ReplayShape shape = kShape;
  EXPECT_EQ(ReplayContextSteps(config, shape), 0);
  config.num_context_steps = 3;
  EXPECT_EQ(ReplayContextSteps(config, shape), 3);
  shape.num_root_past_steps = 7;
  EXPECT_EQ(ReplayContextSteps(config, shape), 7);
  config.num_context_steps = 8;
  EXPECT_EQ(ReplayContextSteps(config, shape), 8);
  const SegmentShape segment = ReplaySegmentShape(config, shape);
  EXPECT_EQ(segment.observation_size, 4);
  EXPECT_EQ(segment.num_actions, 2);
  EXPECT_EQ(segment.num_context_steps, 8);
  shape.num_root_past_steps = -1;
  EXPECT_THAT(MessageOf(config, shape), HasSubstr("past steps of a root is -1"));
}

TEST(ReplayPlan, WhatIsTooLargeNamesWhatMadeItSo) {
  ReplayConfig config;
  config.max_mebibytes = 1;
  EXPECT_THAT(
      MessageOf(config, kShape),
      HasSubstr("or lower replay.segment_length, replay.td_steps, replay.capacity or env."));
  ReplayShape shape = kShape;
  shape.num_root_past_steps = 100000;
  EXPECT_THAT(MessageOf(config, shape),
              HasSubstr("or lower model.context_length, model.num_layers, replay.td_steps, "
                        "replay.capacity or env.num_collectors"));
}

// A step of context takes 4 * 4 bytes of observation and 4 of action.
TEST(ReplayPlan, ContextTakesItsShareOfTheBytes) {
  ReplayConfig config, with_context;
  config.capacity = with_context.capacity = 10000;
  with_context.num_context_steps = 30;
  // Every open segment and each finished one takes it: 50 full ones of 200 steps, each followed by
  // the last few steps of its episode, and one more of each environment.
  EXPECT_EQ(ReplayFixedBytes(with_context, kShape) - ReplayFixedBytes(config, kShape), 8 * 30 * 20);
  EXPECT_EQ(PlannedBytes(with_context, kShape) - PlannedBytes(config, kShape),
            (8 + 50 + 50 + 8) * 30 * 20);
  EXPECT_EQ(ReplayMaxTransitions(with_context, kShape), ReplayMaxTransitions(config, kShape));
  // 8 environments with 2 segments of 201 and 30 observations of 48 KiB.
  const ReplayShape images{{12288, 2}, 8, TerminalMode::kAbsorb};
  with_context.max_mebibytes = 173;
  EXPECT_THAT(MessageOf(with_context, images), HasSubstr("needs 174 MiB"));
  with_context.max_mebibytes = 174;
  EXPECT_EQ(MessageOf(with_context, images), "");
}

}  // namespace
}  // namespace lzero::replay_plan_test
