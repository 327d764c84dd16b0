// Chance outcomes in the replay buffer: sampled beside their steps, over cuts of segments, past the
// end of episodes, and after a checkpoint.
#include <memory>
#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"

namespace lzero::replay_chance_test {
namespace {

constexpr int kEpisode = 7;  // steps, then a termination

ReplayConfig Config() {
  ReplayConfig config;
  config.capacity = 100;
  config.segment_length = 3;
  config.num_unroll_steps = 4;
  config.td_steps = 2;
  return config;
}

ReplayShape Shape() {
  ReplayShape shape;
  shape.observation_size = 1;
  shape.num_actions = 2;
  shape.num_envs = 1;
  shape.num_chance_outcomes = 50;
  return shape;
}

// Step t of the run draws outcome t; every fifth draws none.
int32_t OutcomeOf(int64_t t) { return t % 5 == 4 ? -1 : static_cast<int32_t>(t); }

std::unique_ptr<ReplayBuffer> Filled() {
  auto buffer = ReplayBuffer::Create(Config(), Shape()).value();
  const std::vector<float> policy = {0.5f, 0.5f};
  const std::vector<uint8_t> legal = {1, 1};
  for (int64_t t = 0; t < 5 * kEpisode; ++t) {
    const float observation = static_cast<float>(t);
    if (t % kEpisode == 0) {
      EXPECT_TRUE(buffer->BeginEpisode(EnvId(0), {observation}, legal, 0).ok());
    }
    const std::vector<float> next = {observation + 1.0f};
    Transition step;
    step.policy = policy;
    step.observation = next;
    step.legal_action_mask = legal;
    step.chance_outcome = OutcomeOf(t);
    step.terminated = t % kEpisode == kEpisode - 1;
    EXPECT_TRUE(buffer->Append(EnvId(0), step).ok());
  }
  return buffer;
}

TEST(ReplayChance, OutcomesStayWithTheirSteps) {
  auto buffer = Filled();
  auto restored = ReplayBuffer::Create(Config(), Shape()).value();
  ASSERT_TRUE(restored->Import(buffer->Export()).ok());
  for (ReplayBuffer* each : {buffer.get(), restored.get()}) {
    RandomStream random(1, "sampler");
    TrainBatch batch;
    ASSERT_TRUE(each->Sample(64, random, &batch).ok());
    ASSERT_TRUE(batch.has_chance);
    std::set<int32_t> past_end;
    for (int sample = 0; sample < 64; ++sample) {
      const auto start = static_cast<int64_t>(batch.observations[sample * 5]);
      const int64_t end = start - start % kEpisode + kEpisode;
      for (int k = 0; k < 4; ++k) {
        const int32_t outcome = batch.chance_outcomes[sample * 4 + k];
        EXPECT_EQ(batch.policy_mask[sample * 4 + k], start + k < end ? 1.0f : 0.0f);
        if (start + k < end) {
          EXPECT_EQ(outcome, OutcomeOf(start + k));
        } else {
          past_end.insert(outcome);
        }
      }
    }
    // Drawn at random, of all 50.
    EXPECT_GT(past_end.size(), 20u);
    EXPECT_GE(*past_end.begin(), 0);
    EXPECT_LT(*past_end.rbegin(), 50);
  }
}

TEST(ReplayChance, AWrongCheckpointIsTold) {
  auto buffer = Filled();
  std::vector<NamedArray> arrays = buffer->Export();
  for (NamedArray& array : arrays) {
    if (array.name == "replay.chance_outcomes") array.bytes[0] = 77;
  }
  EXPECT_EQ(buffer->Import(arrays).message(),
            "replay state: array 'replay.chance_outcomes' holds 77, allowed are -1 to 49");
}

TEST(ReplayChance, NothingIsKeptWhereNoneAreTold) {
  ReplayShape shape = Shape();
  const int64_t with = PlannedBytes(Config(), shape);
  shape.num_chance_outcomes = 0;
  EXPECT_LT(PlannedBytes(Config(), shape), with);
}

}  // namespace
}  // namespace lzero::replay_chance_test
