#include "lzero/env/episode_env.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/env/walk_env.h"

namespace lzero::episode_env_test {
namespace {

const Action kLeft = Action::Discrete(0);
const Action kStay = Action::Discrete(1);
const Action kRight = Action::Discrete(2);

TEST(EpisodeEnvTest, AStepBeforeTheFirstResetIsRefused) {
  WalkEnv env;
  const absl::Status status = env.Step(kStay).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(status.message(), "cannot step 'walk': no episode was started; call Reset first");
  EXPECT_EQ(env.GetState().status().message(), "'walk' has no state yet; call Reset first");
}

TEST(EpisodeEnvTest, PlaysToTheEndAndThenRefuses) {
  WalkEnv env;
  const TimeStep first = env.Reset(1);
  EXPECT_EQ(first.observation, (std::vector<float>{1.0f, -1.0f}));
  EXPECT_EQ(first.legal_action_mask, (std::vector<uint8_t>{1, 1, 1}));
  absl::StatusOr<TimeStep> step = first;
  for (int i = 0; i < 4; ++i) step = env.Step(kRight);
  ASSERT_TRUE(step.ok());
  EXPECT_TRUE(step->terminated);
  EXPECT_FALSE(step->truncated);
  EXPECT_EQ(step->reward, 1.0f);
  EXPECT_EQ(step->episode_return, 1.0);
  EXPECT_EQ(step->legal_action_mask, (std::vector<uint8_t>{0, 0, 0}));
  EXPECT_EQ(env.Step(kStay).status().message(),
            "cannot step 'walk': the episode has ended; call Reset first");
}

TEST(EpisodeEnvTest, TheCapTruncates) {
  WalkEnv env;
  env.Reset(0);
  for (int i = 0; i < 19; ++i) ASSERT_FALSE(env.Step(kStay)->ended());
  const auto last = env.Step(kStay);
  EXPECT_TRUE(last->truncated);
  EXPECT_FALSE(last->terminated);
  EXPECT_FALSE(env.Step(kStay).ok());
}

TEST(EpisodeEnvTest, BadActionsAreRefusedAndChangeNothing) {
  WalkEnv env;
  env.Reset(0);
  const std::string before = *env.Save();
  EXPECT_EQ(env.Step(kLeft).status().message(), "action 0 is illegal here; 'walk' takes now: 1 2");
  EXPECT_EQ(env.Step(Action::Discrete(3)).status().message(),
            "action 3 is out of range; 'walk' takes 0 .. 2");
  EXPECT_EQ(env.Step(Action::Discrete(-1)).status().message(),
            "action -1 is out of range; 'walk' takes 0 .. 2");
  EXPECT_EQ(env.Step(Action{0, {1.0f}}).status().message(),
            "action is a list of 1 values; 'walk' takes one integer");
  EXPECT_EQ(*env.Save(), before);
}

TEST(EpisodeEnvTest, LongListsOfLegalActionsAreCutShort) {
  EnvSpec spec;
  spec.id = "wide";
  spec.action.num_actions = 30;
  std::vector<uint8_t> mask(30, 1);
  mask[3] = 0;
  const auto error = [&] {
    return std::string(CheckAction(spec, Action::Discrete(3), mask).message());
  };
  EXPECT_EQ(error(),
            "action 3 is illegal here; 'wide' takes now: 0 1 2 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
            "18 19 20 21 22 23 24 ... (29 in all)");
  for (int action = 25; action < 30; ++action) mask[action] = 0;
  EXPECT_EQ(error(),
            "action 3 is illegal here; 'wide' takes now: 0 1 2 4 5 6 7 8 9 10 11 12 13 14 15 16 17 "
            "18 19 20 21 22 23 24");
}

TEST(EpisodeEnvTest, BoxActionsAreNumbersWithinOrBeyondTheirBounds) {
  EnvSpec spec;
  spec.id = "box";
  spec.action = {ActionKind::kBox, 0, {-1.0f, 0.0f}, {1.0f, 2.0f}};
  EXPECT_TRUE(CheckAction(spec, {0, {-1.0f, 2.0f}}, {}).ok());
  EXPECT_EQ(CheckAction(spec, {0, {0.0f}}, {}).message(), "action has 1 values; 'box' takes 2");
  EXPECT_TRUE(CheckAction(spec, {0, {-7.0f, 2.5f}}, {}).ok());
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(CheckAction(spec, {0, {nan, 0.0f}}, {}).message(),
            "action[0] is nan; 'box' takes a number, -1 .. 1 (clipped beyond)");
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(CheckAction(spec, {0, {0.0f, infinity}}, {}).message(),
            "action[1] is inf; 'box' takes a number, 0 .. 2 (clipped beyond)");
}

TEST(EpisodeEnvTest, SavedStatesCarryProgress) {
  WalkEnv env;
  env.Reset(0);
  for (int i = 0; i < 19; ++i) ASSERT_TRUE(env.Step(kStay).ok());
  WalkEnv other;
  ASSERT_TRUE(other.Load(*env.Save()).ok());
  EXPECT_TRUE(other.Step(kStay)->truncated);
  // The state before any Reset can be saved too.
  WalkEnv unused;
  ASSERT_TRUE(other.Load(*unused.Save()).ok());
  EXPECT_FALSE(other.Step(kStay).ok());
}

// Left is legal everywhere but at 0, however the walk got there.
TEST(EpisodeEnvTest, TheMaskFollowsLoadAndSetState) {
  WalkEnv env;
  env.Reset(0);
  const std::string at_0 = *env.Save();
  env.Reset(1);
  const std::string at_1 = *env.Save();
  ASSERT_TRUE(env.Load(at_0).ok());
  EXPECT_FALSE(env.Step(kLeft).ok());
  ASSERT_TRUE(env.Load(at_1).ok());
  EXPECT_TRUE(env.Step(kLeft).ok());
  ASSERT_TRUE(env.SetState({2.0}).ok());
  EXPECT_TRUE(env.Step(kLeft).ok());
  ASSERT_TRUE(env.SetState({0.0}).ok());
  EXPECT_FALSE(env.Step(kLeft).ok());
  EXPECT_TRUE(env.Step(kRight).ok());
  // A refused state leaves the mask as it was.
  EXPECT_FALSE(env.Load("nonsense").ok());
  EXPECT_TRUE(env.Step(kLeft).ok());
}

TEST(EpisodeEnvTest, ImpossibleSavedStatesAreRefused) {
  WalkEnv env;
  const auto state = [](uint8_t phase, int64_t num_steps, int position) {
    StateWriter writer("walk");
    writer.Write(phase);
    writer.Write(num_steps);
    writer.Write(0.0);
    if (phase != 0) writer.Write(position);
    return writer.Take();
  };
  EXPECT_TRUE(env.Load(state(1, 3, 4)).ok());
  EXPECT_EQ(env.Load(state(1, 3, 9)).message(), "saved state of 'walk' is impossible: position");
  EXPECT_EQ(env.Load(state(1, -3, 4)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(env.Load(state(9, 3, 4)).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(env.Load(state(0, 3, 4) + "x").code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(env.Load("nonsense").message(), "these 8 bytes are not a saved state of 'walk'");
  EXPECT_EQ(env.GetState().value(), std::vector<double>{4.0});
}

TEST(EpisodeEnvTest, SetStateBeginsAFreshEpisode) {
  WalkEnv env;
  ASSERT_TRUE(env.SetState({4.0}).ok());
  const auto step = env.Step(kRight);
  ASSERT_TRUE(step.ok());
  EXPECT_TRUE(step->terminated);
  EXPECT_EQ(step->episode_return, 1.0);
  EXPECT_EQ(env.SetState({7.0}).message(), "a state of 'walk' is one number, 0 .. 4");
}

TEST(EpisodeEnvTest, WhatTheSpecDeniesIsUnimplemented) {
  EnvSpec spec = WalkSpec();
  spec.can_save = false;
  spec.can_set_state = false;
  WalkEnv env(spec);
  env.Reset(0);
  EXPECT_EQ(env.Save().status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(env.Load("").code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(env.GetState().status().code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(env.SetState({0.0}).code(), absl::StatusCode::kUnimplemented);
}

class Promising : public EpisodeEnv {
 public:
  Promising() : EpisodeEnv(WalkSpec()) {}
  void StartGame(uint64_t) override {}
  Outcome Advance(const Action&) override { return {}; }
  void Observe(absl::Span<float>) const override {}
};

TEST(EpisodeEnvTest, APromiseWithoutTheFunctionIsUnimplemented) {
  WalkEnv whole;
  whole.Reset(0);
  Promising env;
  env.Reset(0);
  const absl::Status save = env.Save().status(), load = env.Load(*whole.Save());
  const absl::Status get = env.GetState().status(), set = env.SetState({});
  EXPECT_EQ(save.message(), "'walk' says can_save and has no SaveGame");
  EXPECT_EQ(load.message(), "'walk' says can_save and has no LoadGame");
  EXPECT_EQ(get.message(), "'walk' says can_set_state and has no GetPhysics");
  EXPECT_EQ(set.message(), "'walk' says can_set_state and has no SetPhysics");
  for (const absl::Status& status : {save, load, get, set}) {
    EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  }
}

// A position that was put together is loaded like one that was played to, with a fresh count of
// steps.
TEST(EpisodeEnvTest, ARunningStateIsWhatSaveGivesThere) {
  WalkEnv env;
  env.Reset(1);
  const std::string played = *env.Save();
  StateWriter game("walk");
  const size_t frame = game.Take().size() + 1 + sizeof(int64_t) + sizeof(double);
  const std::string made = EpisodeEnv::RunningState("walk", [&](StateWriter& writer) {
    for (const char byte : played.substr(frame)) writer.Write(byte);
  });
  EXPECT_EQ(made, played);
}

}  // namespace
}  // namespace lzero::episode_env_test
