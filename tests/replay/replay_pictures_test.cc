// Pictures of bytes and stacked frames: the same samples as from numbers stored whole, a fraction
// of the memory, and offsets of pictures in a fixed order of draws.
#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_pictures_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Stacks of two frames of 3 x 4 bytes in two environments.
ReplayShape PictureShape() {
  ReplayShape shape{{24, 3}, 2, TerminalMode::kAbsorb};
  shape.observation_type = ObservationType::kUint8;
  shape.frame_stack = 2;
  shape.observation_shape = {2, 3, 4};
  return shape;
}

ReplayConfig PictureConfig() {
  ReplayConfig config;
  config.capacity = 90;
  config.max_mebibytes = 1;
  config.segment_length = 6;
  config.num_unroll_steps = 3;
  config.td_steps = 4;
  config.num_context_steps = 8;  // some are copies of evicted steps
  return config;
}

std::vector<float> Fractions(const std::vector<uint8_t>& bytes) {
  std::vector<float> fractions;
  for (const uint8_t byte : bytes) fractions.push_back(static_cast<float>(byte) / 255.0f);
  return fractions;
}

void ExpectSameButForTheType(const TrainBatch& bytes, const TrainBatch& numbers) {
  ASSERT_EQ(bytes.observation_type, ObservationType::kUint8);
  ASSERT_EQ(numbers.observation_type, ObservationType::kFloat32);
  EXPECT_EQ(Fractions(bytes.observation_bytes), numbers.observations);
  EXPECT_EQ(Fractions(bytes.bootstrap_observation_bytes), numbers.bootstrap_observations);
  EXPECT_EQ(bytes.actions, numbers.actions);
  EXPECT_EQ(bytes.context_mask, numbers.context_mask);
  EXPECT_EQ(bytes.rewards, numbers.rewards);
  EXPECT_EQ(bytes.policies, numbers.policies);
  EXPECT_EQ(bytes.legal_action_masks, numbers.legal_action_masks);
  EXPECT_EQ(bytes.partial_returns, numbers.partial_returns);
  EXPECT_EQ(bytes.bootstrap_scales, numbers.bootstrap_scales);
  EXPECT_EQ(bytes.value_mask, numbers.value_mask);
}

// The same play, stored as numbers whole and as bytes once, saved and loaded now and then.
TEST(ReplayPictures, AreGivenBackAsTheNumbersThatCame) {
  for (const int64_t shift : {0, 1}) {
    ReplayConfig config = PictureConfig();
    config.augment_shift = shift;
    const ReplayShape shape = PictureShape();
    ReplayShape whole = shape;
    whole.observation_type = ObservationType::kFloat32;
    whole.frame_stack = 1;
    auto pictures = MakeBuffer(config, shape);
    const auto numbers = MakeBuffer(config, whole);
    const RandomPlay::Options options{.terminate = 0.04, .truncate = 0.03, .abandon = 0.02};
    RandomPlay play(shape, options, 7), same_play(shape, options, 7);
    RandomStream random(3), same_random(3);
    TrainBatch batch, expected;
    for (int i = 0; i < 600; ++i) {
      play.Step(pictures.get());
      same_play.Step(numbers.get());
      if (i % 37 == 36) {
        auto loaded = MakeBuffer(config, shape);
        const absl::Status imported = loaded->Import(pictures->Export());
        ASSERT_TRUE(imported.ok()) << imported;
        ASSERT_EQ(loaded->stats().bytes, pictures->stats().bytes);
        pictures = std::move(loaded);
      }
      if (i % 5 != 4 || !numbers->Sample(6, same_random, &expected).ok()) continue;
      ASSERT_TRUE(pictures->Sample(6, random, &batch).ok());
      ExpectSameButForTheType(batch, expected);
      if (HasFailure()) return;
    }
    EXPECT_LT(pictures->stats().num_transitions, 91);  // some were evicted
  }
}

// A stack is stored as bytes, each frame once: 9,216 bytes for each of 1,000 steps, and little
// more.
TEST(ReplayPictures, TakeAFrameOfBytesForEachStep) {
  constexpr int kFrame = 96 * 96, kNumSteps = 1000;
  ReplayShape shape{{4 * kFrame, 6}, 1, TerminalMode::kAbsorb};
  shape.observation_type = ObservationType::kUint8;
  shape.frame_stack = 4;
  ReplayConfig config;
  config.capacity = 2000;
  config.max_mebibytes = 64;
  const auto buffer = MakeBuffer(config, shape);
  const int64_t empty = buffer->stats().bytes;
  // The index of 2,000 transitions, and room for the segment being filled.
  EXPECT_LT(empty, 204 * kFrame + 200000);
  std::vector<float> observation(4 * kFrame, 0.0f);
  const std::vector<uint8_t> legal(6, 1);
  const std::vector<float> policy(6, 0.0f);
  ASSERT_TRUE(buffer->BeginEpisode(EnvId(0), observation, legal, 0).ok());
  for (int t = 0; t < kNumSteps; ++t) {
    std::copy(observation.begin() + kFrame, observation.end(), observation.begin());
    std::fill(observation.end() - kFrame, observation.end(), static_cast<float>(t % 256) / 255.0f);
    Transition step;
    step.policy = policy;
    step.observation = observation;
    step.legal_action_mask = legal;
    ASSERT_TRUE(buffer->Append(EnvId(0), step).ok());
  }
  const int64_t held = buffer->stats().bytes - empty;
  EXPECT_GT(held, kNumSteps * kFrame);
  // Five segments begin with four frames more; a step has 55 bytes beside its frame.
  EXPECT_LT(held, kNumSteps * (kFrame + 60) + 5 * 4 * kFrame + 5000);
}

TEST(ReplayPictures, WhatBreaksTheEnvironmentsRuleIsNotStored) {
  const auto buffer = MakeBuffer(PictureConfig(), PictureShape());
  std::vector<float> observation(24, 0.0f), half(24, 0.0f), unmoved(24, 1.0f);
  half[7] = 0.5f;
  const std::vector<uint8_t> legal(3, 1);
  const std::vector<float> policy(3, 0.0f);
  Transition step;
  step.policy = policy;
  step.legal_action_mask = legal;

  absl::Status refused = buffer->BeginEpisode(EnvId(1), half, legal, 0);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("environment 1: observation[7] is 0.5"), HasSubstr("uint8")));
  ASSERT_TRUE(buffer->BeginEpisode(EnvId(1), observation, legal, 0).ok());
  step.observation = half;
  refused = buffer->Append(EnvId(1), step);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("environment 1: observation[7] is 0.5"));
  step.observation = unmoved;
  refused = buffer->Append(EnvId(1), step);
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("environment 1: "), HasSubstr("frame_stack 2")));
  EXPECT_EQ(buffer->stats().num_transitions, 0);
  EXPECT_EQ(buffer->stats().num_appended, 0);

  // The episode goes on where it was.
  step.observation = observation;
  step.terminated = true;
  EXPECT_TRUE(buffer->Append(EnvId(1), step).ok());
  EXPECT_EQ(buffer->stats().num_eligible, 1);
}

// A state of another kind of observations is told in words, and one of the format before by format.
TEST(ReplayPictures, StatesOfOtherObservationsAreRefused) {
  const auto arrays = MakeBuffer(PictureConfig(), PictureShape())->Export();
  const auto message = [](const ReplayShape& shape, const std::vector<NamedArray>& state) {
    return std::string(MakeBuffer(PictureConfig(), shape)->Import(state).message());
  };
  ReplayShape shape = PictureShape();
  shape.observation_type = ObservationType::kFloat32;
  EXPECT_EQ(message(shape, arrays),
            "replay state: observation type (0 float32, 1 uint8) is 0 here and 1 in the saved "
            "state; it cannot change between saving and loading");
  shape = PictureShape();
  shape.frame_stack = 1;
  EXPECT_EQ(message(shape, arrays),
            "replay state: frame_stack of the observations is 1 here and 2 in the saved state; it "
            "cannot change between saving and loading");
  std::vector<NamedArray> old = arrays;
  ASSERT_EQ(old[0].name, "replay.settings");
  old[0] = MakeNamedArray<int64_t>("replay.settings", {1, 24, 3, 2, 90, 6, 3, 4, 1, 0});
  EXPECT_EQ(message(PictureShape(), old),
            "replay state: format is 2 here and 1 in the saved state; it cannot change between "
            "saving and loading");
  old[0] = MakeNamedArray<int64_t>("replay.settings", {});
  EXPECT_EQ(message(PictureShape(), old),
            "replay state: array 'replay.settings' has shape [0], expected [15] (-1: any)");
}

// By numbers drawn after a sample was written, offsets before factors: one where the network reads
// all of it, else one for its first observation and one for the others.
TEST(ReplayPictures, EverySampleIsMovedByOffsetsOfItsOwn) {
  ReplayConfig config = PictureConfig();
  const auto plain = MakeBuffer(config, PictureShape());
  config.augment_shift = 1;
  config.augment_intensity = 0.2;
  const auto shifted = MakeBuffer(config, PictureShape());
  ReplayShape shape = PictureShape();
  shape.reads_sequences = false;
  const auto apart = MakeBuffer(config, shape);
  const RandomPlay play(PictureShape(), {.terminate = 0.0, .truncate = 0.0, .abandon = 0.0}, 5);
  for (const auto* buffer : {&plain, &shifted, &apart}) {
    RandomPlay same_play = play;  // an episode that goes on: no action past its end is drawn
    for (int i = 0; i < 60; ++i) same_play.Step(buffer->get());
  }
  const ShiftAugmenter augmenter({2, 3, 4}, 1);
  const IntensityAugmenter intensities(0.2);
  for (const auto* buffer : {&shifted, &apart}) {
    RandomStream random(8), same_random(8);
    TrainBatch batch, expected;
    ASSERT_TRUE(plain->Sample(20, random, &expected).ok());
    ASSERT_TRUE((*buffer)->Sample(20, same_random, &batch).ok());
    EXPECT_NE(batch.observation_bytes, expected.observation_bytes);
    for (int i = 0; i < 20; ++i) {
      const ShiftAugmenter::Offset inputs = augmenter.Draw(random);
      const ShiftAugmenter::Offset targets = buffer == &apart ? augmenter.Draw(random) : inputs;
      augmenter.Apply(inputs, targets, 1 + batch.num_context_steps, i, &expected);
      const double bright = intensities.Draw(random);
      const double bright_targets = buffer == &apart ? intensities.Draw(random) : bright;
      intensities.Apply(bright, bright_targets, 1 + batch.num_context_steps, i, &expected);
    }
    EXPECT_EQ(batch.observation_bytes, expected.observation_bytes);
    EXPECT_EQ(batch.bootstrap_observation_bytes, expected.bootstrap_observation_bytes);
  }
}

}  // namespace
}  // namespace lzero::replay_pictures_test
