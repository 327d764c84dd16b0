// Box actions in the replay buffer: what is sampled is what was appended, over cuts of segments,
// past the end of episodes, and after a checkpoint. Every number tells its step, so a row is
// checked against the step it claims to be.
#include <cmath>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"

namespace lzero::replay_box_test {
namespace {

constexpr int kDim = 2;
constexpr int kSampled = 3;
constexpr int kEpisode = 7;  // steps, then a termination

ReplayConfig Config() {
  ReplayConfig config;
  config.capacity = 100;
  config.segment_length = 3;
  config.num_unroll_steps = 4;
  config.td_steps = 2;
  config.num_context_steps = 2;
  return config;
}

ReplayShape Shape() {
  ReplayShape shape;
  shape.observation_size = 1;
  shape.num_actions = kSampled;
  shape.num_envs = 1;
  shape.action_dim = kDim;
  return shape;
}

// Step t of the run, 0 .. 99: number d of its action, of its sampled action k, and its policy.
float Value(int64_t t, int d) { return static_cast<float>(t) * 0.01f + 0.001f * d; }
float Sampled(int64_t t, int k, int d) { return -Value(t, d) + 0.0001f * k; }
float Share(int64_t t, int k) { return static_cast<float>(t * kSampled + k); }

void AppendEpisodes(ReplayBuffer& buffer, int num_episodes) {
  for (int64_t t = 0; t < num_episodes * kEpisode; ++t) {
    const float observation = static_cast<float>(t);
    if (t % kEpisode == 0) {
      EXPECT_TRUE(buffer.BeginEpisode(EnvId(0), {observation}, {}, 0).ok());
    }
    std::vector<float> values, sampled, policy;
    for (int d = 0; d < kDim; ++d) values.push_back(Value(t, d));
    for (int k = 0; k < kSampled; ++k) {
      policy.push_back(Share(t, k));
      for (int d = 0; d < kDim; ++d) sampled.push_back(Sampled(t, k, d));
    }
    const std::vector<float> next = {observation + 1.0f};
    Transition step;
    step.action = static_cast<int32_t>(t % kSampled);
    step.action_values = values;
    step.sampled_actions = sampled;
    step.policy = policy;
    step.observation = next;
    step.terminated = t % kEpisode == kEpisode - 1;
    EXPECT_TRUE(buffer.Append(EnvId(0), step).ok());
  }
}

// Row `sample` starts at step `start` of the run, which its first unrolled observation says.
void ExpectRow(const TrainBatch& batch, int sample) {
  const int context = batch.num_context_steps, unroll = batch.num_unroll_steps;
  const int rows = context + unroll;
  const auto start = static_cast<int64_t>(batch.observations[sample * (rows + 1) + context]);
  const int64_t first = start - start % kEpisode, end = first + kEpisode;
  for (int row = 0; row < rows; ++row) {
    const int64_t t = start - context + row;
    for (int d = 0; d < kDim; ++d) {
      const float value = batch.action_values[(sample * rows + row) * kDim + d];
      if (t < first) {
        EXPECT_EQ(value, 0.0f) << t;
      } else if (t < end) {
        EXPECT_EQ(value, Value(t, d)) << t;
      } else {
        EXPECT_LE(std::abs(value), 1.0f) << t;
      }
    }
  }
  for (int u = 0; u < unroll; ++u) {
    const int64_t t = start + u;
    for (int k = 0; k < kSampled; ++k) {
      const int at = (sample * unroll + u) * kSampled + k;
      EXPECT_EQ(batch.policies[at], t < end ? Share(t, k) : 0.0f);
      for (int d = 0; d < kDim; ++d) {
        EXPECT_EQ(batch.sampled_actions[at * kDim + d], t < end ? Sampled(t, k, d) : 0.0f);
      }
    }
  }
}

TEST(ReplayBox, EverySampleIsWhatWasAppended) {
  auto buffer = ReplayBuffer::Create(Config(), Shape()).value();
  AppendEpisodes(*buffer, 5);
  RandomStream random(1, "sampler");
  TrainBatch batch;
  ASSERT_TRUE(buffer->Sample(64, random, &batch).ok());
  EXPECT_TRUE(batch.actions.empty());
  EXPECT_TRUE(batch.legal_action_masks.empty());
  for (int sample = 0; sample < 64; ++sample) ExpectRow(batch, sample);
}

// Past an end actions are spread over the whole box.
TEST(ReplayBox, ActionsPastTheEndAreUniform) {
  auto buffer = ReplayBuffer::Create(Config(), Shape()).value();
  AppendEpisodes(*buffer, 5);
  RandomStream random(1, "sampler");
  TrainBatch batch;
  double sum = 0.0, squares = 0.0;
  int count = 0;
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(buffer->Sample(64, random, &batch).ok());
    for (int sample = 0; sample < 64; ++sample) {
      const auto start = static_cast<int64_t>(batch.observations[sample * 7 + 2]);
      if (start % kEpisode != kEpisode - 1) continue;  // its last unrolled step is past the end
      const double value = batch.action_values[(sample * 6 + 5) * kDim];
      sum += value;
      squares += value * value;
      ++count;
    }
  }
  ASSERT_GT(count, 300);
  EXPECT_NEAR(sum / count, 0.0, 0.1);
  EXPECT_NEAR(squares / count, 1.0 / 3.0, 0.06);
}

TEST(ReplayBox, ACheckpointGoesOnExactly) {
  auto buffer = ReplayBuffer::Create(Config(), Shape()).value();
  AppendEpisodes(*buffer, 5);
  auto restored = ReplayBuffer::Create(Config(), Shape()).value();
  ASSERT_TRUE(restored->Import(buffer->Export()).ok());
  RandomStream first(2, "sampler"), second(2, "sampler");
  TrainBatch expected, batch;
  ASSERT_TRUE(buffer->Sample(32, first, &expected).ok());
  ASSERT_TRUE(restored->Sample(32, second, &batch).ok());
  EXPECT_EQ(batch.action_values, expected.action_values);
  EXPECT_EQ(batch.sampled_actions, expected.sampled_actions);
  EXPECT_EQ(batch.policies, expected.policies);
}

TEST(ReplayBox, AWrongCheckpointIsTold) {
  auto buffer = ReplayBuffer::Create(Config(), Shape()).value();
  AppendEpisodes(*buffer, 2);
  std::vector<NamedArray> arrays = buffer->Export();
  for (NamedArray& array : arrays) {
    if (array.name != "replay.sampled_actions") continue;
    const float wrong = 1.5f;
    std::copy_n(reinterpret_cast<const char*>(&wrong), sizeof(wrong), array.bytes.begin());
  }
  const absl::Status status = buffer->Import(arrays);
  EXPECT_EQ(status.message(),
            "replay state: array 'replay.sampled_actions' holds 1.5, allowed are -1 to 1");
  ReplayShape other = Shape();
  other.action_dim = 1;
  EXPECT_FALSE(ReplayBuffer::Create(Config(), other).value()->Import(buffer->Export()).ok());
}

}  // namespace
}  // namespace lzero::replay_box_test
