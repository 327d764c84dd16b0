// Sampling with the symmetries of an environment: the same rows, each as one of its images.
#include <memory>
#include <random>

#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_augmentation_test {
namespace {

const Symmetry kIdentity = {{0, 1, 2}, {0, 1, 2, 3}};
const Symmetry kTurn = {{1, 2, 0}, {3, 0, 1, 2}};

std::unique_ptr<ReplayBuffer> MakePlayed(const std::vector<Symmetry>& symmetries, bool augment) {
  ReplayConfig config;
  config.capacity = 100;
  config.segment_length = 6;
  config.num_unroll_steps = 3;
  config.td_steps = 4;
  config.num_context_steps = 8;  // some are copies of evicted steps
  config.augment_symmetries = augment;
  const ReplayShape shape{{3, 4}, 2, TerminalMode::kAbsorb, symmetries};
  auto buffer = ReplayBuffer::Create(config, shape);
  EXPECT_TRUE(buffer.ok()) << buffer.status();
  RandomPlay play(shape, {2, 0.1, 0.05, 0.0}, 7);
  for (int i = 0; i < 300; ++i) play.Step(buffer->get());
  return *std::move(buffer);
}

bool SameGame(const TrainBatch& a, const TrainBatch& b) {
  return a.observations == b.observations && a.actions == b.actions && a.policies == b.policies &&
         a.legal_action_masks == b.legal_action_masks &&
         a.bootstrap_observations == b.bootstrap_observations && a.rewards == b.rewards &&
         a.partial_returns == b.partial_returns;
}

TrainBatch SampleOne(ReplayBuffer& buffer, RandomStream& random) {
  TrainBatch batch;
  EXPECT_TRUE(buffer.Sample(1, random, &batch).ok());
  return batch;
}

// Two identities draw the same numbers as identity and turn: the plain sample to compare with.
TEST(ReplayAugmentationTest, EverySampleIsOneImageAndAllImagesAreDrawn) {
  const auto plain = MakePlayed({kIdentity, kIdentity}, true);
  const auto augmented = MakePlayed({kIdentity, kTurn}, true);
  SymmetryAugmenter turn({kTurn});
  RandomStream plain_random(3), random(3);
  int num_plain = 0, num_turned = 0;
  for (int i = 0; i < 400; ++i) {
    TrainBatch expected = SampleOne(*plain, plain_random);
    const TrainBatch batch = SampleOne(*augmented, random);
    const bool is_plain = SameGame(batch, expected);
    turn.Apply(0, 0, &expected);
    const bool is_turned = SameGame(batch, expected);
    ASSERT_NE(is_plain, is_turned) << "sample " << i;
    (is_plain ? num_plain : num_turned) += 1;
  }
  EXPECT_GT(num_plain, 150);
  EXPECT_GT(num_turned, 150);
}

TEST(ReplayAugmentationTest, WithoutTheOptionNothingIsDrawn) {
  const auto plain = MakePlayed({}, false);
  const auto declared = MakePlayed({kTurn}, false);
  RandomStream plain_random(3), random(3);
  for (int i = 0; i < 50; ++i) {
    EXPECT_TRUE(SameGame(SampleOne(*declared, random), SampleOne(*plain, plain_random)));
  }
}

}  // namespace
}  // namespace lzero::replay_augmentation_test
