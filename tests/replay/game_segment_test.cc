#include "lzero/replay/game_segment.h"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::game_segment_test {
namespace {

using ::testing::ElementsAre;

constexpr SegmentShape kShape{2, 3};

Transition MakeStep(int t, const std::vector<float>& observation, const std::vector<float>& policy,
                    const std::vector<uint8_t>& legal) {
  Transition step;
  step.action = t % 3;
  step.reward = 0.5f * t;
  step.policy = policy;
  step.root_value = -1.0f * t;
  step.observation = observation;
  step.legal_action_mask = legal;
  step.to_play = t % 2;
  return step;
}

// `num_steps` steps in a segment with room for 5.
std::unique_ptr<GameSegment> MakeSegment(int num_steps) {
  auto segment = std::make_unique<GameSegment>(kShape, 5, EnvId(1), 7, 10);
  EXPECT_TRUE(segment->SetFirstObservation({0.0f, 0.5f}, {1, 0, 1}, 1).ok());
  for (int t = 0; t < num_steps; ++t) {
    const float value = static_cast<float>(t + 1);
    EXPECT_TRUE(segment
                    ->Append(MakeStep(t, {value, value + 0.5f}, {value, 0.0f, 1.0f}, {0, 1, 7}),
                             100 + t, 1000 + t)
                    .ok());
  }
  return segment;
}

// Numbers as they are stored.
std::string Stored(const std::vector<float>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
}

std::vector<float> Observations(const GameSegment& segment) {
  std::vector<float> rows((segment.num_steps() + 1) * 2);
  segment.CopyObservations(0, segment.num_steps() + 1, rows.data());
  return rows;
}

void ExpectThreeSteps(const GameSegment& segment) {
  EXPECT_EQ(segment.env(), EnvId(1));
  EXPECT_EQ(segment.episode(), 7);
  EXPECT_EQ(segment.first_step(), 10);
  EXPECT_EQ(segment.num_steps(), 3);
  EXPECT_THAT(Observations(segment), ElementsAre(0, 0.5f, 1, 1.5f, 2, 2.5f, 3, 3.5f));
  EXPECT_THAT(segment.Rows<int32_t>(Stored::kAction), ElementsAre(0, 1, 2));
  EXPECT_THAT(segment.Rows<float>(Stored::kReward), ElementsAre(0.0f, 0.5f, 1.0f));
  EXPECT_THAT(segment.Rows<float>(Stored::kRootValue), ElementsAre(0.0f, -1.0f, -2.0f));
  EXPECT_THAT(segment.Rows<float>(Stored::kPolicy), ElementsAre(1, 0, 1, 2, 0, 1, 3, 0, 1));
  EXPECT_THAT(segment.leaves(), ElementsAre(100, 101, 102));
  EXPECT_THAT(segment.sequences(), ElementsAre(1000, 1001, 1002));
  EXPECT_THAT(segment.Rows<uint8_t>(Stored::kLegalActions),
              ElementsAre(1, 0, 1, 0, 1, 1, 0, 1, 1, 0, 1, 1));
  EXPECT_THAT(segment.Rows<uint8_t>(Stored::kToPlay), ElementsAre(1, 0, 1, 0));
}

TEST(GameSegment, KeepsWhatWasAppended) {
  const auto segment = MakeSegment(3);
  EXPECT_EQ(segment->max_steps(), 5);
  EXPECT_EQ(segment->end(), SegmentEnd::kRunsOn);
  ExpectThreeSteps(*segment);
}

TEST(GameSegment, ShrinkingChangesNothingButTheRoom) {
  const auto segment = MakeSegment(3);
  segment->ShrinkToFit();
  EXPECT_EQ(segment->max_steps(), 3);
  ExpectThreeSteps(*segment);
  segment->ShrinkToFit();
  ExpectThreeSteps(*segment);
}

TEST(GameSegment, TheNextBeginsWithTheLastObservation) {
  const auto first = MakeSegment(3);
  GameSegment second(kShape, 5, EnvId(1), 7, 13);
  second.SetFirstObservationFrom(*first);
  EXPECT_TRUE(second.BeginsWhereEnds(*first));
  EXPECT_FALSE(first->BeginsWhereEnds(second));
  EXPECT_THAT(Observations(second), ElementsAre(3, 3.5f));
  EXPECT_THAT(second.Rows<uint8_t>(Stored::kLegalActions), ElementsAre(0, 1, 1));
  EXPECT_THAT(second.Rows<uint8_t>(Stored::kToPlay), ElementsAre(0));
  EXPECT_TRUE(second.SetFirstObservation({3.0f, 3.5f}, {0, 1, 0}, 0).ok());
  EXPECT_FALSE(second.BeginsWhereEnds(*first));
  EXPECT_TRUE(second.SetFirstObservation({3.0f, 3.5f}, {0, 1, 1}, 1).ok());
  EXPECT_FALSE(second.BeginsWhereEnds(*first));
  GameSegment::Link(first.get(), &second);
  EXPECT_EQ(first->next(), &second);
  EXPECT_EQ(second.previous(), first.get());
  GameSegment::Link(nullptr, &second);
  EXPECT_EQ(second.previous(), nullptr);
}

TEST(GameSegment, CountsEveryFieldInItsBytes) {
  // A step: observation 2 * 4, policy 3 * 4, legal 3, to_play 1, action, reward, root value and
  // leaf 4 each, sequence 8.
  EXPECT_EQ(GameSegment::BytesFor(kShape, 11, 0) - GameSegment::BytesFor(kShape, 10, 0), 48);
  // An empty one: its one observation row, and the object with the heap's share.
  EXPECT_GE(GameSegment::BytesFor(kShape, 0, 0), 12 + static_cast<int64_t>(sizeof(GameSegment)));
  // A step of context: observation 2 * 4 and action 4. No more of them than the shape asks for.
  const SegmentShape with_context{2, 3, 4};
  for (const int first_step : {0, 1, 3, 4, 5, 100}) {
    EXPECT_EQ(GameSegment::BytesFor(kShape, 7, first_step), GameSegment::BytesFor(kShape, 7, 0));
    EXPECT_EQ(GameSegment::BytesFor(with_context, 7, first_step),
              GameSegment::BytesFor(kShape, 7, 0) + 12 * std::min(first_step, 4));
  }
}

// Observations and actions from the context on.
std::vector<float> AllObservations(const GameSegment& segment) {
  std::vector<float> rows((segment.num_context_steps() + segment.num_steps() + 1) * 2);
  segment.CopyObservations(-segment.num_context_steps(), static_cast<int>(rows.size() / 2),
                           rows.data());
  return rows;
}

std::vector<int32_t> AllActions(const GameSegment& segment) {
  const int num_context = segment.num_context_steps();
  const auto actions =
      segment.Rows<int32_t>(Stored::kAction, -num_context, num_context + segment.num_steps());
  return {actions.begin(), actions.end()};
}

void AppendStep(GameSegment* segment, int t) {
  const float value = static_cast<float>(t + 1);
  EXPECT_TRUE(
      segment->Append(MakeStep(t, {value, -value}, {value, 0.0f, 1.0f}, {0, 1, 1}), t, t).ok());
}

// An episode cut after 2, 5 and 6 steps; four steps of context. The second segment has what there
// is, the third draws on the context of the second.
TEST(GameSegment, ContextIsTheStepsBeforeTheFirst) {
  const SegmentShape shape{2, 3, 4};
  GameSegment first(shape, 5, EnvId(0), 0, 0), second(shape, 5, EnvId(0), 0, 2);
  GameSegment third(shape, 5, EnvId(0), 0, 5), fourth(shape, 5, EnvId(0), 0, 6);
  EXPECT_TRUE(first.SetFirstObservation({0.0f, 0.0f}, {1, 1, 1}, 0).ok());
  for (const int t : {0, 1}) AppendStep(&first, t);
  second.SetFirstObservationFrom(first);
  second.SetContextFrom(first);
  for (const int t : {2, 3, 4}) AppendStep(&second, t);
  third.SetFirstObservationFrom(second);
  third.SetContextFrom(second);
  AppendStep(&third, 5);
  third.ShrinkToFit();
  fourth.SetFirstObservationFrom(third);
  fourth.SetContextFrom(third);
  EXPECT_EQ(first.num_context_steps(), 0);
  EXPECT_EQ(second.num_context_steps(), 2);
  EXPECT_EQ(third.num_context_steps(), 4);
  EXPECT_THAT(AllActions(first), ElementsAre(0, 1));
  EXPECT_THAT(AllObservations(second), ElementsAre(0, 0, 1, -1, 2, -2, 3, -3, 4, -4, 5, -5));
  EXPECT_THAT(AllActions(second), ElementsAre(0, 1, 2, 0, 1));
  EXPECT_THAT(second.Rows<int32_t>(Stored::kAction), ElementsAre(2, 0, 1));
  EXPECT_THAT(AllObservations(third), ElementsAre(1, -1, 2, -2, 3, -3, 4, -4, 5, -5, 6, -6));
  EXPECT_THAT(AllActions(third), ElementsAre(1, 2, 0, 1, 2));
  EXPECT_THAT(AllObservations(fourth), ElementsAre(2, -2, 3, -3, 4, -4, 5, -5, 6, -6));
  EXPECT_THAT(AllActions(fourth), ElementsAre(2, 0, 1, 2));
  EXPECT_TRUE(third.BeginsWhereEnds(second));
  EXPECT_TRUE(fourth.BeginsWhereEnds(third));
  EXPECT_FALSE(fourth.BeginsWhereEnds(second));

  GameSegment copy(shape, 5, EnvId(0), 0, 2);
  EXPECT_TRUE(copy.SetFirstObservation({2.0f, -2.0f}, {0, 1, 1}, 0).ok());
  copy.SetContext(Stored({7.0f, 8.0f, 9.0f, 10.0f}), {2, 1}, {});
  EXPECT_THAT(AllObservations(copy), ElementsAre(7, 8, 9, 10, 2, -2));
  EXPECT_THAT(AllActions(copy), ElementsAre(2, 1));
}

// Observation t of an episode of three stacked frames of two bytes: frames t, t + 1 and t + 2.
std::vector<float> StackAt(int t) {
  std::vector<float> stack;
  for (int frame = t; frame < t + 3; ++frame) {
    stack.push_back(static_cast<float>(frame) / 255.0f);
    stack.push_back(static_cast<float>(200 - frame) / 255.0f);
  }
  return stack;
}

constexpr SegmentShape kStacks{6, 3, 4, ObservationType::kUint8, 3};

// The episode cut after 5 steps; the second segment has four steps of context.
TEST(GameSegment, StackedFramesAreKeptOnce) {
  GameSegment first(kStacks, 5, EnvId(0), 0, 0), second(kStacks, 5, EnvId(0), 0, 5);
  ASSERT_TRUE(first.SetFirstObservation(StackAt(0), {1, 1, 1}, 0).ok());
  for (int t = 0; t < 8; ++t) {
    if (t == 5) {
      second.SetFirstObservationFrom(first);
      second.SetContextFrom(first);
      EXPECT_TRUE(second.BeginsWhereEnds(first));
    }
    GameSegment& segment = t < 5 ? first : second;
    const absl::Status added =
        segment.Append(MakeStep(t, StackAt(t + 1), {0, 0, 0}, {1, 1, 1}), t, t);
    ASSERT_TRUE(added.ok()) << added;
  }
  first.ShrinkToFit();
  second.ShrinkToFit();
  // Observations 1 .. 8: context, the first one and those of three steps.
  std::vector<float> expected;
  for (int t = 1; t <= 8; ++t) {
    const std::vector<float> stack = StackAt(t);
    expected.insert(expected.end(), stack.begin(), stack.end());
  }
  std::vector<float> numbers(8 * 6);
  second.CopyObservations(-4, 8, numbers.data());
  EXPECT_EQ(numbers, expected);
  std::vector<uint8_t> bytes(3 * 6);
  second.CopyObservations(-4, 3, bytes.data());
  EXPECT_THAT(bytes,
              ElementsAre(1, 199, 2, 198, 3, 197, 2, 198, 3, 197, 4, 196, 3, 197, 4, 196, 5, 195));
  const absl::string_view blocks = second.Blocks(-4, 10);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(static_cast<uint8_t>(blocks[2 * i]), 1 + i);
    EXPECT_EQ(static_cast<uint8_t>(blocks[2 * i + 1]), 199 - i);
  }
  // A step: one frame of 2 bytes, policy 3 * 4, legal 3, to_play 1, four fields of 4, sequence 8. A
  // step of context: a frame and an action. Two frames more than of frames by themselves.
  EXPECT_EQ(GameSegment::BytesFor(kStacks, 11, 0) - GameSegment::BytesFor(kStacks, 10, 0), 42);
  EXPECT_EQ(GameSegment::BytesFor(kStacks, 10, 3) - GameSegment::BytesFor(kStacks, 10, 0), 18);
  const SegmentShape alone{2, 3, 4, ObservationType::kUint8};
  EXPECT_EQ(GameSegment::BytesFor(kStacks, 10, 9) - GameSegment::BytesFor(alone, 10, 9), 4);
}

TEST(GameSegment, WhatTheEnvironmentMustNotGiveIsNotAdded) {
  GameSegment segment(kStacks, 5, EnvId(0), 0, 0);
  std::vector<float> half = StackAt(0);
  half[4] = 0.5f;
  EXPECT_EQ(segment.SetFirstObservation(half, {1, 1, 1}, 0).code(),
            absl::StatusCode::kInvalidArgument);
  ASSERT_TRUE(segment.SetFirstObservation(StackAt(0), {1, 1, 1}, 0).ok());
  EXPECT_EQ(segment.Append(MakeStep(0, half, {0, 0, 0}, {1, 1, 1}), 0, 0).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(segment.Append(MakeStep(0, StackAt(2), {0, 0, 0}, {1, 1, 1}), 0, 0).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(segment.num_steps(), 0);
  EXPECT_TRUE(segment.Append(MakeStep(0, StackAt(1), {0, 0, 0}, {1, 1, 1}), 0, 0).ok());
  EXPECT_EQ(segment.num_steps(), 1);
}

TEST(GameSegment, ANewSearchReplacesPolicyAndRootValueAlone) {
  const auto segment = MakeSegment(4), before = MakeSegment(4);
  segment->ReplaceSearch(2, {0.25f, 0.5f, 0.75f}, {}, 9.0f);
  EXPECT_THAT(segment->Rows<float>(Stored::kPolicy),
              ElementsAre(1, 0, 1, 2, 0, 1, 0.25f, 0.5f, 0.75f, 4, 0, 1));
  EXPECT_THAT(segment->Rows<float>(Stored::kRootValue), ElementsAre(0, -1, 9, -3));
  EXPECT_EQ(segment->Rows<float>(Stored::kReward), before->Rows<float>(Stored::kReward));
  EXPECT_EQ(segment->Rows<int32_t>(Stored::kAction), before->Rows<int32_t>(Stored::kAction));
  EXPECT_EQ(segment->sequences(), before->sequences());
  EXPECT_EQ(segment->Rows<uint8_t>(Stored::kLegalActions),
            before->Rows<uint8_t>(Stored::kLegalActions));
}

TEST(GameSegment, ANewSearchOfBoxActionsBringsItsSampledOnes) {
  const SegmentShape shape = {1, 2, 0, ObservationType::kFloat32, 1, /*action_dim=*/1};
  GameSegment segment(shape, 2, EnvId(0), 0, 0);
  EXPECT_TRUE(segment.SetFirstObservation({0.0f}, {}, 0).ok());
  for (int t = 0; t < 2; ++t) {
    Transition step;
    const std::vector<float> policy = {0.5f, 0.5f}, sampled = {0.1f, 0.2f}, values = {0.1f};
    const std::vector<float> observation = {1.0f};
    step.policy = policy;
    step.sampled_actions = sampled;
    step.action_values = values;
    step.observation = observation;
    EXPECT_TRUE(segment.Append(step, t, t).ok());
  }
  segment.ReplaceSearch(1, {1.0f, 0.0f}, {-0.5f, 0.5f}, 3.0f);
  EXPECT_THAT(segment.Rows<float>(Stored::kPolicy), ElementsAre(0.5f, 0.5f, 1.0f, 0.0f));
  EXPECT_THAT(segment.Rows<float>(Stored::kSampledActions), ElementsAre(0.1f, 0.2f, -0.5f, 0.5f));
  EXPECT_THAT(segment.Rows<float>(Stored::kRootValue), ElementsAre(0.0f, 3.0f));
  EXPECT_THAT(segment.Rows<float>(Stored::kActionValues), ElementsAre(0.1f, 0.1f));
  EXPECT_DEATH(segment.ReplaceSearch(1, {1.0f, 0.0f}, {}, 0.0f),
               "sampled_actions: 0 numbers, expected 2");
}

TEST(GameSegmentDeathTest, RefusesWrongSizes) {
  const auto segment = MakeSegment(4);
  EXPECT_DEATH(segment->ReplaceSearch(4, {0, 0, 0}, {}, 0.0f), "step 4 of 4");
  EXPECT_DEATH(segment->ReplaceSearch(0, {0, 0}, {}, 0.0f), "policies: 2 numbers, expected 3");
  const auto step = [](int observation, int policy, int legal, int action) {
    static std::vector<float> floats(9);
    static std::vector<uint8_t> bytes(9);
    Transition record;
    record.observation = {floats.data(), static_cast<size_t>(observation)};
    record.policy = {floats.data(), static_cast<size_t>(policy)};
    record.legal_action_mask = {bytes.data(), static_cast<size_t>(legal)};
    record.action = action;
    return record;
  };
  EXPECT_DEATH(segment->Append(step(3, 3, 3, 0), 0, 0).IgnoreError(),
               "observation of 3 numbers, expected 2");
  EXPECT_DEATH(segment->Append(step(2, 2, 3, 0), 0, 0).IgnoreError(),
               "policies: 2 numbers, expected 3");
  EXPECT_DEATH(segment->Append(step(2, 3, 4, 0), 0, 0).IgnoreError(),
               "legal action mask of 4, expected 3");
  EXPECT_DEATH(segment->Append(step(2, 3, 3, 3), 0, 0).IgnoreError(), "action 3 of 3");
  Transition player = step(2, 3, 3, 0);
  player.to_play = -1;
  EXPECT_DEATH(segment->Append(player, 0, 0).IgnoreError(), "to_play -1");
  EXPECT_TRUE(segment->Append(step(2, 3, 3, 0), 0, 0).ok());
  EXPECT_DEATH(segment->Append(step(2, 3, 3, 0), 0, 0).IgnoreError(), "segment of 5 steps is full");
  GameSegment later({2, 3, 2}, 5, EnvId(1), 7, 16);
  EXPECT_DEATH(later.SetContextFrom(*segment), "step 16 does not follow 5 steps from 10");
  EXPECT_DEATH(later.SetContext(Stored({1.0f, 2.0f}), {0}, {}), "1 context steps, expected 2");
  EXPECT_DEATH(later.SetContext(Stored({1.0f, 2.0f}), {0, 0}, {}), "8 bytes");
}

}  // namespace
}  // namespace lzero::game_segment_test
