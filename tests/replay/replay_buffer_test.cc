#include "lzero/replay/replay_buffer.h"

#include <cmath>
#include <map>
#include <random>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_buffer_test {
namespace {

using ::testing::HasSubstr;

struct Trial {
  ReplayConfig config;
  ReplayShape shape;
  RandomPlay::Options play;
};

Trial RandomTrial(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Trial trial;
  trial.shape = {{pick(1, 3), pick(1, 4)},
                 pick(1, 3),
                 pick(0, 1) ? TerminalMode::kAbsorb : TerminalMode::kMask};
  ReplayConfig& config = trial.config;
  config.segment_length = pick(0, 1) ? pick(1, 6) : pick(1, 50);
  config.num_unroll_steps = pick(1, 6);
  config.td_steps = pick(0, 3) ? pick(1, 8) : 30;
  config.num_context_steps = pick(0, 1) ? 0 : pick(1, 12);
  config.discount = pick(0, 3) ? 0.9 : 1.0;
  config.prioritized = pick(0, 1);
  config.value_bootstrap = pick(0, 1) ? ValueBootstrap::kSearch : ValueBootstrap::kTargetNetwork;
  const int64_t horizon = config.num_unroll_steps + config.td_steps;
  config.capacity =
      trial.shape.num_envs * (config.segment_length + horizon) + (pick(0, 1) ? pick(0, 50) : 1000);
  config.max_mebibytes = 64;
  trial.play.num_players = pick(1, 2);
  trial.play.terminate = pick(0, 1) ? 0.1 : 0.01;
  trial.play.truncate = pick(0, 1) ? 0.05 : 0.01;
  trial.play.abandon = pick(0, 1) ? 0.0 : 0.03;
  return trial;
}

void ExpectStats(const ReplayStats& stats, const ReplayModel& model) {
  ASSERT_EQ(stats.num_transitions, model.num_transitions());
  ASSERT_EQ(stats.num_eligible, model.CountEligible());
}

// Each shard runs its own share of random settings against the model.
class AgainstModel : public testing::TestWithParam<int> {};

TEST_P(AgainstModel, EverySampleIsWhatTheFormulasSay) {
  std::mt19937_64 settings(1000 + GetParam());
  for (int trial_index = 0; trial_index < 25; ++trial_index) {
    const Trial trial = RandomTrial(settings);
    SCOPED_TRACE(testing::Message() << "trial " << trial_index);
    const auto buffer = MakeBuffer(trial.config, trial.shape);
    ReplayModel model(trial.config, trial.shape);
    RandomPlay play(trial.shape, trial.play, settings());
    RandomStream random(settings());
    TrainBatch batch;
    for (int i = 0; i < 400; ++i) {
      play.Step(buffer.get(), &model);
      if (i % 20 != 19) continue;
      ExpectStats(buffer->stats(), model);
      const absl::Status status = buffer->Sample(8, random, &batch);
      ASSERT_EQ(status.ok(), model.CountEligible() > 0) << status.message();
      if (!status.ok()) continue;
      model.ExpectBatch(batch);
      const std::vector<float> priorities(8, static_cast<float>(1 + i % 3));
      buffer->UpdatePriorities(batch.positions, priorities);
      if (HasFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shards, AgainstModel, testing::Range(0, 8));

// A buffer with one ended episode for each length given, one environment, unique observations.
struct Filled {
  std::unique_ptr<ReplayBuffer> buffer;
  ReplayConfig config;
  ReplayShape shape{{2, 3}, 1, TerminalMode::kAbsorb};
};

void PlayEpisode(ReplayBuffer* buffer, int env, int length, int first_number, bool end = true,
                 int num_players = 1, float last_reward = 1.0f) {
  const std::vector<uint8_t> legal = {1, 1, 1};
  const std::vector<float> policy = {0.2f, 0.3f, 0.5f};
  std::vector<float> observation = {static_cast<float>(first_number), 0.0f};
  EXPECT_TRUE(buffer->BeginEpisode(EnvId(env), observation, legal, 0).ok());
  for (int t = 0; t < length; ++t) {
    observation[0] += 1.0f;
    Transition step;
    step.action = t % 3;
    step.reward = t == length - 1 ? last_reward : 0.0f;
    step.policy = policy;
    step.observation = observation;
    step.legal_action_mask = legal;
    step.to_play = (t + 1) % num_players;
    step.terminated = end && t == length - 1;
    EXPECT_TRUE(buffer->Append(EnvId(env), step).ok());
  }
}

Filled MakeFilled(bool prioritized) {
  Filled filled;
  filled.config.capacity = 100;
  filled.config.segment_length = 10;
  filled.config.num_unroll_steps = 3;
  filled.config.td_steps = 2;
  filled.config.prioritized = prioritized;
  filled.buffer = MakeBuffer(filled.config, filled.shape);
  return filled;
}

// The number of the observation each sample starts at.
int StartOf(const TrainBatch& batch, int sample) {
  const int rows = batch.num_context_steps + batch.num_unroll_steps + 1;
  return static_cast<int>(
      batch.observations[(sample * rows + batch.num_context_steps) * batch.observation_size]);
}

// Rewards 0,0,0,0,+1 for players 1,2,1,2,1 are worth +1 to player 1 and -1 to player 2, from every
// root, wherever segments are cut.
TEST(ReplayBuffer, TwoPlayerSignsFromEveryRoot) {
  for (const int segment_length : {1, 2, 3, 5, 200}) {
    ReplayConfig config;
    config.segment_length = segment_length;
    config.discount = 1.0;
    config.td_steps = 9;
    const ReplayShape shape{{2, 3}, 1, TerminalMode::kAbsorb};
    const auto buffer = MakeBuffer(config, shape);
    PlayEpisode(buffer.get(), 0, 5, 0, true, 2);
    RandomStream random(7);
    TrainBatch batch;
    ASSERT_TRUE(buffer->Sample(100, random, &batch).ok());
    std::map<int, int> roots;
    for (int i = 0; i < 100; ++i) {
      const int t = StartOf(batch, i);
      ++roots[t];
      for (int k = 0; k < 5; ++k) {
        const float expected = t + k >= 5 ? 0.0f : (t + k) % 2 == 0 ? 1.0f : -1.0f;
        EXPECT_EQ(batch.partial_returns[i * 5 + k], expected) << "root " << t << " step " << k;
        EXPECT_EQ(batch.bootstrap_scales[i * 5 + k], 0.0f);
        EXPECT_EQ(batch.value_mask[i * 5 + k], 1.0f);
      }
    }
    EXPECT_EQ(roots.size(), 5u);
  }
}

double ChiSquare(const std::map<int, int>& counts, const std::map<int, double>& shares,
                 int num_samples) {
  double sum = 0.0;
  for (const auto& [key, share] : shares) {
    const double expected = share * num_samples;
    const auto it = counts.find(key);
    const double seen = it == counts.end() ? 0.0 : it->second;
    sum += (seen - expected) * (seen - expected) / expected;
  }
  return sum;
}

TEST(ReplayBuffer, UniformSamplingHitsEveryEligiblePositionAlike) {
  const Filled filled = MakeFilled(false);
  PlayEpisode(filled.buffer.get(), 0, 13, 0);
  PlayEpisode(filled.buffer.get(), 0, 1, 100);
  PlayEpisode(filled.buffer.get(), 0, 12, 200, false);  // 12 - 3 + 1 - 2 = 8 are complete, + 0
  std::map<int, double> shares;
  for (int t = 0; t < 13; ++t) shares[t] = 1.0 / 23;
  shares[100] = 1.0 / 23;
  for (int t = 0; t <= 8; ++t) shares[200 + t] = 1.0 / 23;
  ASSERT_EQ(filled.buffer->stats().num_eligible, 23);
  RandomStream random(11);
  TrainBatch batch;
  std::map<int, int> counts;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(filled.buffer->Sample(230, random, &batch).ok());
    for (int j = 0; j < 230; ++j) ++counts[StartOf(batch, j)];
    for (const float weight : batch.importance_weights) ASSERT_EQ(weight, 1.0f);
  }
  EXPECT_EQ(counts.size(), 23u);
  // 22 degrees of freedom: 48.3 is exceeded once in a thousand.
  EXPECT_LT(ChiSquare(counts, shares, 23000), 48.3);
  EXPECT_EQ(filled.buffer->stats().num_sampled, 23000);
}

TEST(ReplayBuffer, PrioritizedSamplingFollowsPriorities) {
  const Filled filled = MakeFilled(true);
  PlayEpisode(filled.buffer.get(), 0, 16, 0);
  RandomStream random(12);
  TrainBatch batch;
  ASSERT_TRUE(filled.buffer->Sample(500, random, &batch).ok());
  // Priority 1 + t for position t; all are hit by 500 draws.
  std::vector<float> priorities;
  for (int i = 0; i < 500; ++i) priorities.push_back(1.0f + StartOf(batch, i));
  filled.buffer->UpdatePriorities(batch.positions, priorities);
  double sum = 0.0;
  for (int t = 0; t < 16; ++t) sum += std::pow(1.0 + t, 0.6);
  std::map<int, double> shares;
  for (int t = 0; t < 16; ++t) shares[t] = std::pow(1.0 + t, 0.6) / sum;
  std::map<int, int> counts;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(filled.buffer->Sample(200, random, &batch).ok());
    double largest = 0.0;
    for (int j = 0; j < 200; ++j) {
      ++counts[StartOf(batch, j)];
      largest = std::max(largest, std::pow(16 * shares[StartOf(batch, j)], -0.4));
    }
    for (int j = 0; j < 200; ++j) {
      EXPECT_NEAR(batch.importance_weights[j],
                  std::pow(16 * shares[StartOf(batch, j)], -0.4) / largest, 1e-6);
    }
  }
  // 15 degrees of freedom: 37.7 is exceeded once in a thousand.
  EXPECT_LT(ChiSquare(counts, shares, 20000), 37.7);
}

TEST(ReplayBuffer, NewPositionsGetTheLargestPrioritySeen) {
  const Filled filled = MakeFilled(true);
  PlayEpisode(filled.buffer.get(), 0, 1, 0);
  RandomStream random(13);
  TrainBatch batch;
  ASSERT_TRUE(filled.buffer->Sample(1, random, &batch).ok());
  filled.buffer->UpdatePriorities(batch.positions, {32.0f});
  filled.buffer->UpdatePriorities(batch.positions, {1.0f});
  PlayEpisode(filled.buffer.get(), 0, 1, 10);
  const auto count_new = [&] {
    int count = 0;
    for (int i = 0; i < 100; ++i) {
      EXPECT_TRUE(filled.buffer->Sample(90, random, &batch).ok());
      for (int j = 0; j < 90; ++j) count += StartOf(batch, j) == 10;
    }
    return count;
  };
  EXPECT_NEAR(count_new(), 8000, 150);  // 32^0.6 = 8 against 1; five standard deviations
  // Priority 0 is as good as never drawn again, but stays eligible: 1e-6^0.6 = 0.00025.
  for (int i = 0; i < 90; ++i) {
    if (StartOf(batch, i) == 0) filled.buffer->UpdatePriorities({batch.positions[i]}, {0.0f});
  }
  EXPECT_GE(count_new(), 8990);
  EXPECT_EQ(filled.buffer->stats().num_eligible, 2);
}

TEST(ReplayBuffer, RecycledPositionIsNotUpdated) {
  const Filled filled = MakeFilled(true);
  ReplayBuffer* buffer = filled.buffer.get();
  PlayEpisode(buffer, 0, 10, 0);
  RandomStream random(14);
  TrainBatch batch;
  ASSERT_TRUE(buffer->Sample(50, random, &batch).ok());
  const std::vector<float> priorities(50, 1000.0f);
  const auto bytes_of = [](const std::vector<NamedArray>& arrays) {
    std::string all;
    for (const NamedArray& array : arrays) all += array.name + array.bytes;
    return all;
  };
  // Ten more episodes push the first one out; its leaves hold the last.
  for (int i = 1; i <= 10; ++i) PlayEpisode(buffer, 0, 10, 100 * i);
  const std::string before = bytes_of(buffer->Export());
  buffer->UpdatePriorities(batch.positions, priorities);
  EXPECT_EQ(bytes_of(buffer->Export()), before);
  ASSERT_TRUE(buffer->Sample(50, random, &batch).ok());
  buffer->UpdatePriorities(batch.positions, priorities);
  EXPECT_NE(bytes_of(buffer->Export()), before);
}

TEST(ReplayBuffer, ActionsPastTheEndAreUniform) {
  const Filled filled = MakeFilled(false);
  PlayEpisode(filled.buffer.get(), 0, 1, 0);
  RandomStream random(15);
  TrainBatch batch;
  std::map<int, int> counts;
  for (int i = 0; i < 60; ++i) {
    ASSERT_TRUE(filled.buffer->Sample(100, random, &batch).ok());
    for (int j = 0; j < 100; ++j) {
      EXPECT_EQ(batch.actions[j * 3], 0);
      ++counts[batch.actions[j * 3 + 1]];
      ++counts[3 + batch.actions[j * 3 + 2]];
    }
  }
  std::map<int, double> shares;
  for (int a = 0; a < 6; ++a) shares[a] = 1.0 / 6;
  EXPECT_LT(ChiSquare(counts, shares, 12000), 22.5);  // 5 degrees of freedom (4 in truth)
}

TEST(ReplayBuffer, NothingEligibleIsAnErrorThatDrawsNothing) {
  const Filled filled = MakeFilled(false);
  RandomStream random(16);
  TrainBatch batch;
  absl::Status status = filled.buffer->Sample(4, random, &batch);
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("replay holds 0 transitions"));
  PlayEpisode(filled.buffer.get(), 0, 3, 0, false);  // horizon 3 - 1 + 2 = 4
  status = filled.buffer->Sample(4, random, &batch);
  EXPECT_THAT(std::string(status.message()), HasSubstr("known 4 steps later"));
  EXPECT_EQ(random.state().position, 0u);
  EXPECT_EQ(batch.num_samples, 0);
  PlayEpisode(filled.buffer.get(), 0, 4, 0, false);
  EXPECT_TRUE(filled.buffer->Sample(4, random, &batch).ok());
}

TEST(ReplayBuffer, CreateRefusesWhatCannotWork) {
  ReplayConfig config;
  config.capacity = 100;
  const auto buffer = ReplayBuffer::Create(config, {{4, 2}, 8, TerminalMode::kAbsorb});
  EXPECT_EQ(buffer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(buffer.status().message()), HasSubstr("replay.capacity: got 100"));
}

// Bytes alone limit the content: the cap holds after every step, and samples stay right.
TEST(ReplayBuffer, BytesNeverExceedTheCap) {
  ReplayConfig config;
  config.capacity = 1000000;
  config.max_mebibytes = 1;
  config.segment_length = 7;
  config.num_unroll_steps = 3;
  config.td_steps = 4;
  config.num_context_steps = 2;
  const ReplayShape shape{{500, 2}, 3, TerminalMode::kAbsorb};
  const auto buffer = MakeBuffer(config, shape);
  EXPECT_EQ(PlannedBytes(config, shape), 1 << 20);
  RandomPlay play(shape, {.terminate = 0.2}, 3);
  RandomStream random(17);
  TrainBatch batch;
  int64_t most = 0;
  for (int i = 0; i < 3000; ++i) {
    play.Step(buffer.get());
    const ReplayStats stats = buffer->stats();
    ASSERT_LE(stats.bytes, 1 << 20);
    most = std::max(most, stats.bytes);
    // What is held cannot be less than the observations alone.
    ASSERT_GE(stats.bytes, stats.num_transitions * 500 * 4);
    if (i > 100 && i % 50 == 0) {
      ASSERT_TRUE(buffer->Sample(16, random, &batch).ok());
    }
  }
  EXPECT_GT(most, (1 << 20) - 8 * 500 * 4 * 2);  // within a segment or so of the cap
  EXPECT_LT(buffer->stats().num_transitions, 500);
}

TEST(ReplayBuffer, SampleReusesTheArraysOfABatch) {
  const Filled filled = MakeFilled(false);
  PlayEpisode(filled.buffer.get(), 0, 10, 0);
  RandomStream random(18);
  TrainBatch batch;
  ASSERT_TRUE(filled.buffer->Sample(8, random, &batch).ok());
  const float* observations = batch.observations.data();
  const float* policies = batch.policies.data();
  ASSERT_TRUE(filled.buffer->Sample(8, random, &batch).ok());
  EXPECT_EQ(batch.observations.data(), observations);
  EXPECT_EQ(batch.policies.data(), policies);
}

TEST(ReplayBuffer, OneThreadAppendsWhileAnotherSamples) {
  ReplayConfig config;
  config.capacity = 400;
  config.segment_length = 9;
  config.prioritized = true;
  const ReplayShape shape{{3, 2}, 2, TerminalMode::kAbsorb};
  const auto buffer = MakeBuffer(config, shape);
  RandomPlay play(shape, {}, 5);
  for (int i = 0; i < 200; ++i) play.Step(buffer.get());
  std::thread collector([&] {
    for (int i = 0; i < 2000; ++i) play.Step(buffer.get());
  });
  RandomStream random(19);
  TrainBatch batch;
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(buffer->Sample(16, random, &batch).ok());
    const std::vector<float> priorities(16, 0.1f * i);
    buffer->UpdatePriorities(batch.positions, priorities);
    ASSERT_LE(buffer->stats().num_transitions, 400);
    if (i % 100 == 0) {
      ASSERT_FALSE(buffer->Export().empty());
    }
  }
  collector.join();
  EXPECT_EQ(buffer->stats().num_sampled, 300 * 16);
}

}  // namespace
}  // namespace lzero::replay_buffer_test
