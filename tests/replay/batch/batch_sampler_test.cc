// Batches that are drawn while the one before is used: the same batches as without, whatever the
// timing, and none lost when a draw is taken back.
#include "lzero/replay/batch/batch_sampler.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero::batch_sampler_test {
namespace {

constexpr int kBatchSize = 6;

std::unique_ptr<ReplayBuffer> FilledReplay() {
  ReplayConfig config;
  config.capacity = 1000;
  config.segment_length = 50;
  ReplayShape shape;
  shape.observation_size = 2;
  shape.num_actions = 3;
  shape.num_envs = 1;
  auto replay = ReplayBuffer::Create(config, shape).value();
  const std::vector<uint8_t> legal(3, 1);
  const std::vector<float> policy = {0.2f, 0.3f, 0.5f};
  std::vector<float> observation = {0.0f, 1.0f};
  EXPECT_TRUE(replay->BeginEpisode(EnvId(0), observation, legal, 0).ok());
  for (int t = 0; t < 300; ++t) {
    observation = {static_cast<float>(t + 1), 0.5f};
    Transition step;
    step.action = t % 3;
    step.reward = 1.0f;
    step.policy = policy;
    step.observation = observation;
    step.legal_action_mask = legal;
    EXPECT_TRUE(replay->Append(EnvId(0), step).ok());
  }
  return replay;
}

RandomStream NewStream() { return RandomStream(7, "batch sampler test"); }

// The observations of the next batches, `Sample` called by hand.
std::vector<std::vector<float>> Expected(int count) {
  const auto replay = FilledReplay();
  RandomStream stream = NewStream();
  TrainBatch batch;
  std::vector<std::vector<float>> batches;
  for (int i = 0; i < count; ++i) {
    EXPECT_TRUE(replay->Sample(kBatchSize, stream, &batch).ok());
    batches.push_back(batch.observations);
  }
  return batches;
}

class BatchSamplerTest : public testing::TestWithParam<bool> {};

TEST_P(BatchSamplerTest, GivesTheBatchesOfAsManySamples) {
  const auto expected = Expected(40);
  const auto replay = FilledReplay();
  RandomStream stream = NewStream();
  BatchSampler sampler(replay.get(), &stream, kBatchSize, GetParam());
  for (int i = 0; i < 40; ++i) {
    const auto batch = sampler.Next(/*another_follows=*/i % 5 != 4);
    ASSERT_TRUE(batch.ok()) << batch.status();
    EXPECT_EQ((*batch)->observations, expected[static_cast<size_t>(i)]) << i;
    EXPECT_EQ(&sampler.last(), *batch);
  }
}

TEST_P(BatchSamplerTest, ADrawThatIsTakenBackIsDrawnAgain) {
  const auto expected = Expected(12);
  const auto replay = FilledReplay();
  RandomStream stream = NewStream();
  BatchSampler sampler(replay.get(), &stream, kBatchSize, GetParam());
  for (int i = 0; i < 12; ++i) {
    EXPECT_EQ((*sampler.Next(true))->observations, expected[static_cast<size_t>(i)]) << i;
    if (i % 3 == 1) sampler.Discard();
  }
  sampler.Discard();
  EXPECT_EQ(replay->stats().num_sampled, 12 * kBatchSize);
  RandomStream by_hand = NewStream();
  TrainBatch batch;
  for (int i = 0; i < 12; ++i) ASSERT_TRUE(replay->Sample(kBatchSize, by_hand, &batch).ok());
  EXPECT_EQ(stream.state().position, by_hand.state().position);
}

TEST_P(BatchSamplerTest, AnEmptyReplayIsToldAtOnceAndAhead) {
  ReplayConfig config;
  ReplayShape shape;
  shape.observation_size = 2;
  shape.num_actions = 3;
  shape.num_envs = 1;
  const auto replay = ReplayBuffer::Create(config, shape).value();
  RandomStream stream = NewStream();
  BatchSampler sampler(replay.get(), &stream, kBatchSize, GetParam());
  EXPECT_TRUE(absl::IsFailedPrecondition(sampler.Next(true).status()));
  EXPECT_TRUE(absl::IsFailedPrecondition(sampler.Next(false).status()));
  EXPECT_EQ(stream.state().position, 0u);
}

TEST_P(BatchSamplerTest, MayEndWhileABatchIsBeingDrawn) {
  const auto replay = FilledReplay();
  for (int i = 0; i < 50; ++i) {
    RandomStream stream = NewStream();
    BatchSampler sampler(replay.get(), &stream, kBatchSize, GetParam());
    ASSERT_TRUE(sampler.Next(true).ok());
  }
}

INSTANTIATE_TEST_SUITE_P(Ahead, BatchSamplerTest, testing::Bool());

}  // namespace
}  // namespace lzero::batch_sampler_test
