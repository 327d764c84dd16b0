// Learning from pictures: bytes and the numbers they stand for are the same, shifts are part of
// what a seed decides, and an environment that breaks its promise is an error.
#include <random>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/model/random_batch.h"
#include "tests/train/trainer_testing.h"

namespace lzero::pictures_test {
namespace {

using reference::kNumActions;
using reference::kObservationSize;
using reference::RandomBatch;
using testing::HasSubstr;

// The same pictures as bytes and as the numbers they stand for: the same losses and weights.
TEST(PicturesTest, LearnsFromBytesWhatItLearnsFromNumbers) {
  ExperimentConfig config = TinyConfig();
  config.model.encoder = EncoderKind::kImage;
  config.model.encoder_channels = 4;
  SetTensorThreads(1);
  const WorldModelShape shape = {{2, 16, 17}, kNumActions};
  const auto numbers = Learner::Create(config, shape).value();
  const auto bytes = Learner::Create(config, shape).value();
  for (unsigned update = 0; update < 3; ++update) {
    TrainBatch batch = RandomBatch(5, 1, 3, update);
    batch.observation_size = 2 * 16 * 17;
    TrainBatch byte_batch = batch;
    byte_batch.observation_type = ObservationType::kUint8;
    std::mt19937 random(update);
    const auto fill = [&](std::vector<float>& as_numbers, std::vector<uint8_t>& as_bytes) {
      as_bytes.resize(as_numbers.size() / kObservationSize * (2 * 16 * 17));
      as_numbers.resize(as_bytes.size());
      for (size_t i = 0; i < as_bytes.size(); ++i) {
        as_bytes[i] = static_cast<uint8_t>(random() % 256);
        as_numbers[i] = static_cast<float>(as_bytes[i]) / 255.0f;
      }
    };
    fill(batch.observations, byte_batch.observation_bytes);
    fill(batch.bootstrap_observations, byte_batch.bootstrap_observation_bytes);
    byte_batch.observations.clear();
    byte_batch.bootstrap_observations.clear();
    ASSERT_TRUE(numbers->Update(batch, 0.01, nullptr).ok());
    ASSERT_TRUE(bytes->Update(byte_batch, 0.01, nullptr).ok());
  }
  ExpectSameBytes(bytes->Export(), numbers->Export());
  EXPECT_EQ(bytes->ReadMetrics(), numbers->ReadMetrics());
}

TEST(PicturesTest, ShiftsChangeWhatIsLearnedAndAreDrawnAlikeEachTime) {
  ExperimentConfig config = FilmConfig();
  TestRun plain(config);
  config.replay.augment_shift = 3;
  TestRun shifted(config), again(config);
  for (TestRun* run : {&plain, &shifted, &again}) {
    const auto outcome = run->Run();
    ASSERT_TRUE(outcome.ok()) << outcome.status();
  }
  EXPECT_EQ(shifted.Read("metrics.jsonl"), again.Read("metrics.jsonl"));
  EXPECT_NE(shifted.Read("metrics.jsonl"), plain.Read("metrics.jsonl"));
}

// An environment that breaks what its spec says of stacked frames ends the run; nothing wrong is
// stored or learned.
TEST(PicturesTest, ATornFilmEndsTheRunInWords) {
  ExperimentConfig config = FilmConfig();
  config.env.id = "torn_film";
  TestRun run(config);
  const absl::Status status = run.Run().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("environment 0: the first 1 of the observation's 2 frames are not the last "
                        "ones of the observation before, but the environment declares frame_stack "
                        "2 (ObservationSpec): each step adds one frame and drops the oldest"));
}

// From a checkpoint in the middle to the same end, byte for byte.
TEST(PicturesTest, AResumedRunDrawsTheSameShifts) {
  ExperimentConfig config = FilmConfig();
  config.replay.capacity = 80;  // so that old segments leave
  config.replay.num_context_steps = 2;
  config.replay.augment_shift = 2;
  TestRun straight(config), resumed(config);
  ASSERT_TRUE(straight.Run().ok());
  resumed.CopyFrom(straight);
  const auto checkpoints = ListCheckpoints(straight.dir()).value();
  ASSERT_GE(checkpoints.size(), 4u);
  const auto outcome = resumed.Resume(checkpoints[checkpoints.size() / 2].path);
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  EXPECT_EQ(resumed.Read("metrics.jsonl"), straight.Read("metrics.jsonl"));
  ExpectSameBytes(resumed.Latest().content.files, straight.Latest().content.files);
}

}  // namespace
}  // namespace lzero::pictures_test
