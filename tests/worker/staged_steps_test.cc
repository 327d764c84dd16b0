// Staged steps against a replay buffer that was filled directly with the same calls.
#include "lzero/worker/staged_steps.h"

#include <random>

#include "gtest/gtest.h"

namespace lzero::staged_steps_test {
namespace {

constexpr int kNumEnvs = 3;
constexpr int kNumActions = 2;
constexpr int kObservationSize = 4;

std::unique_ptr<ReplayBuffer> MakeReplay() {
  ReplayConfig config;
  config.capacity = 500;
  config.segment_length = 6;
  config.num_unroll_steps = 2;
  config.td_steps = 2;
  ReplayShape shape;
  shape.observation_size = kObservationSize;
  shape.num_actions = kNumActions;
  shape.num_envs = kNumEnvs;
  auto made = ReplayBuffer::Create(config, shape);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

void ExpectEqualContent(const ReplayBuffer& got, const ReplayBuffer& expected) {
  const std::vector<NamedArray> a = got.Export(), b = expected.Export();
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].name, b[i].name);
    EXPECT_EQ(a[i].shape, b[i].shape) << a[i].name;
    EXPECT_EQ(a[i].bytes, b[i].bytes) << a[i].name;
  }
}

TimeStep RandomTimeStep(std::mt19937& random) {
  TimeStep step;
  for (int i = 0; i < kObservationSize; ++i) {
    step.observation.push_back(static_cast<float>(random() % 1000) / 8.0f);
  }
  step.legal_action_mask = {1, static_cast<uint8_t>(random() % 2)};
  step.to_play = static_cast<int>(random() % 2);
  step.reward = static_cast<float>(random() % 100);
  step.terminated = random() % 9 == 0;
  step.truncated = !step.terminated && random() % 9 == 0;
  return step;
}

// Plays `num_rounds` of all environments into the staging and into `direct`.
class Player {
 public:
  void Play(int num_rounds, StagedSteps* staged, ReplayBuffer* direct) {
    for (int round = 0; round < num_rounds; ++round) {
      for (int i = 0; i < kNumEnvs; ++i) {
        if (begin_[i]) Begin(EnvId(i), staged, direct);
        Step(EnvId(i), staged, direct);
      }
    }
  }

 private:
  void Begin(EnvId env, StagedSteps* staged, ReplayBuffer* direct) {
    TimeStep first = RandomTimeStep(random_);
    EXPECT_TRUE(
        direct->BeginEpisode(env, first.observation, first.legal_action_mask, first.to_play).ok());
    staged->Begin(env, first);
    first.observation.assign(kObservationSize, -1.0f);  // the staging holds a copy
    begin_[env.value] = false;
  }

  void Step(EnvId env, StagedSteps* staged, ReplayBuffer* direct) {
    TimeStep next = RandomTimeStep(random_);
    std::vector<float> policy = {0.25f, 0.75f};
    Transition record;
    record.action = static_cast<int32_t>(random_() % kNumActions);
    record.reward = next.reward;
    record.policy = policy;
    record.root_value = static_cast<float>(random_() % 7);
    record.observation = next.observation;
    record.legal_action_mask = next.legal_action_mask;
    record.to_play = next.to_play;
    record.terminated = next.terminated;
    record.truncated = next.truncated;
    EXPECT_TRUE(direct->Append(env, record).ok());
    staged->Add(env, record);
    begin_[env.value] = next.ended();
    policy.assign(kNumActions, -1.0f);
    next.observation.assign(kObservationSize, -1.0f);
  }

  std::mt19937 random_{5};
  std::vector<bool> begin_ = std::vector<bool>(kNumEnvs, true);
};

TEST(StagedStepsTest, TheReplayBufferGetsExactlyWhatWasStagedInOrder) {
  const auto direct = MakeReplay(), through = MakeReplay();
  StagedSteps staged;
  Player player;
  int64_t expected_steps = 0;
  // Later rounds are shorter and longer than those before: the memory is reused.
  for (const int num_rounds : {4, 1, 9, 2, 25}) {
    player.Play(num_rounds, &staged, direct.get());
    EXPECT_EQ(staged.num_steps(), num_rounds * kNumEnvs);
    EXPECT_TRUE(staged.MoveTo(*through).ok());
    EXPECT_EQ(staged.num_steps(), 0);
    expected_steps += num_rounds * kNumEnvs;
    EXPECT_EQ(through->stats().num_appended, expected_steps);
    ExpectEqualContent(*through, *direct);
  }
}

TEST(StagedStepsTest, ABeginningIsNoStep) {
  const auto replay = MakeReplay(), expected = MakeReplay();
  StagedSteps staged;
  TimeStep first;
  first.observation.assign(kObservationSize, 1.0f);
  first.legal_action_mask = {1, 1};
  staged.Begin(EnvId(1), first);
  EXPECT_EQ(staged.num_steps(), 0);
  EXPECT_TRUE(staged.MoveTo(*replay).ok());
  EXPECT_EQ(replay->stats().num_appended, 0);
  EXPECT_TRUE(expected->BeginEpisode(EnvId(1), first.observation, first.legal_action_mask, 0).ok());
  ExpectEqualContent(*replay, *expected);
}

TEST(StagedStepsTest, ClearForgetsEverything) {
  const auto replay = MakeReplay(), unused = MakeReplay();
  StagedSteps staged;
  Player().Play(3, &staged, MakeReplay().get());
  staged.Clear();
  EXPECT_EQ(staged.num_steps(), 0);
  EXPECT_TRUE(staged.MoveTo(*replay).ok());
  ExpectEqualContent(*replay, *unused);
}

TEST(StagedStepsTest, WhatTheReplayBufferRefusesIsToldAndNothingStays) {
  ReplayShape shape;
  shape.observation_size = kObservationSize;
  shape.num_actions = kNumActions;
  shape.num_envs = kNumEnvs;
  shape.observation_type = ObservationType::kUint8;
  const auto replay = ReplayBuffer::Create(ReplayConfig(), shape).value();
  StagedSteps staged;
  TimeStep step;
  step.observation.assign(kObservationSize, 1.0f);
  step.legal_action_mask.assign(kNumActions, 1);
  staged.Begin(EnvId(1), step);
  step.observation[1] = 0.5f;
  const std::vector<float> policy(kNumActions, 0.5f);
  Transition transition;
  transition.policy = policy;
  transition.observation = step.observation;
  transition.legal_action_mask = step.legal_action_mask;
  staged.Add(EnvId(1), transition);
  const absl::Status moved = staged.MoveTo(*replay);
  EXPECT_EQ(moved.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(moved.message(),
            "environment 1: observation[1] is 0.5, but the environment declares uint8 observations "
            "(ObservationSpec): every element is k / 255, k of 0 to 255");
  EXPECT_EQ(staged.num_steps(), 0);
  EXPECT_EQ(replay->stats().num_appended, 0);
  EXPECT_TRUE(staged.MoveTo(*replay).ok());
}

}  // namespace
}  // namespace lzero::staged_steps_test
