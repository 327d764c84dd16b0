// Context steps against whole episodes kept outside the buffer: whatever was evicted, a sample
// holds the true steps before it, masked only where the episode begins.
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/replay/replay_buffer.h"
#include "tests/replay/replay_model.h"

namespace lzero::replay_context_test {
namespace {

using ::testing::HasSubstr;

// Samples of a batch whose context reaches back to evicted steps.
int CountBeyondEviction(const TrainBatch& batch, const ReplayModel& model) {
  const int rows = batch.num_context_steps + batch.num_unroll_steps + 1;
  int count = 0;
  for (int i = 0; i < batch.num_samples; ++i) {
    const auto [episode, t] = model.Locate(
        batch.observations[(i * rows + batch.num_context_steps) * batch.observation_size]);
    count += episode->first_kept > 0 && t - batch.num_context_steps < episode->first_kept;
  }
  return count;
}

struct Trial {
  ReplayConfig config;
  ReplayShape shape;
  RandomPlay::Options play;
};

// Room for a few segments only.
Trial RandomTrial(std::mt19937_64& random) {
  const auto pick = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  Trial trial;
  trial.shape = {{pick(1, 3), pick(1, 4)},
                 pick(1, 3),
                 pick(0, 1) ? TerminalMode::kAbsorb : TerminalMode::kMask};
  ReplayConfig& config = trial.config;
  config.segment_length = pick(1, 12);
  config.num_unroll_steps = pick(1, 4);
  config.td_steps = pick(1, 5);
  config.num_context_steps = pick(1, 30);
  config.prioritized = pick(0, 1);
  config.value_bootstrap = pick(0, 1) ? ValueBootstrap::kSearch : ValueBootstrap::kTargetNetwork;
  config.capacity = trial.shape.num_envs * (config.segment_length + 9) + pick(0, 30);
  config.max_mebibytes = 64;
  trial.shape.num_root_past_steps = pick(0, 1) ? 0 : pick(1, 40);
  trial.play.num_players = pick(1, 2);
  trial.play.terminate = pick(0, 1) ? 0.05 : 0.01;
  trial.play.truncate = pick(0, 1) ? 0.05 : 0.01;
  trial.play.abandon = pick(0, 1) ? 0.0 : 0.02;
  return trial;
}

// Now and then the buffer is saved and goes on as another one.
TEST(ReplayContext, IsTheStepsBeforeWhateverWasEvicted) {
  std::mt19937_64 settings(77);
  int num_beyond = 0;
  for (int trial_index = 0; trial_index < 60; ++trial_index) {
    SCOPED_TRACE(testing::Message() << "trial " << trial_index);
    const Trial trial = RandomTrial(settings);
    const int64_t planned = PlannedBytes(trial.config, trial.shape);
    auto buffer = MakeBuffer(trial.config, trial.shape);
    ReplayModel model(trial.config, trial.shape);
    RandomPlay play(trial.shape, trial.play, settings());
    RandomStream random(settings());
    TrainBatch batch;
    for (int i = 0; i < 500; ++i) {
      play.Step(buffer.get(), &model);
      const ReplayStats stats = buffer->stats();
      ASSERT_EQ(stats.num_transitions, model.num_transitions());
      ASSERT_EQ(stats.num_eligible, model.CountEligible());
      ASSERT_LE(stats.bytes, planned);
      if (i % 61 == 60) {
        auto other = MakeBuffer(trial.config, trial.shape);
        const absl::Status imported = other->Import(buffer->Export());
        ASSERT_TRUE(imported.ok()) << imported.message();
        ASSERT_EQ(other->stats().bytes, stats.bytes);
        buffer = std::move(other);
      }
      if (i % 10 != 9 || !buffer->Sample(8, random, &batch).ok()) continue;
      model.ExpectBatch(batch);
      num_beyond += CountBeyondEviction(batch, model);
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(num_beyond, 2000);
}

// Bytes alone limit the content; the model keeps everything.
TEST(ReplayContext, IsWithinTheBytes) {
  for (const int num_context_steps : {1, 5, 20}) {
    ReplayConfig config;
    config.capacity = 1000000;
    config.max_mebibytes = 1;
    config.segment_length = 7;
    config.num_unroll_steps = 3;
    config.td_steps = 4;
    config.num_context_steps = num_context_steps;
    const ReplayShape shape{{500, 2}, 3, TerminalMode::kAbsorb};
    const auto buffer = MakeBuffer(config, shape);
    ReplayModel model(config, shape);
    RandomPlay play(shape, {.terminate = 0.01, .truncate = 0.01}, 3);
    RandomStream random(17);
    TrainBatch batch;
    for (int i = 0; i < 2500; ++i) {
      play.Step(buffer.get(), &model);
      ASSERT_LE(buffer->stats().bytes, 1 << 20);
      if (i % 25 != 24) continue;
      ASSERT_TRUE(buffer->Sample(16, random, &batch).ok());
      model.ExpectBatch(batch);
      if (HasFailure()) return;
    }
    EXPECT_GT(buffer->stats().bytes, (1 << 20) - (8 + num_context_steps) * 500 * 4 * 2);
    EXPECT_LT(buffer->stats().num_transitions, 500);
  }
}

struct Played {
  Played() {
    config.capacity = 60;
    config.segment_length = 4;
    config.num_unroll_steps = 2;
    config.td_steps = 2;
    config.num_context_steps = 6;
  }
  void Play(int num_steps) {
    buffer = MakeBuffer(config, shape);
    model = std::make_unique<ReplayModel>(config, shape);
    RandomPlay play(shape, {.terminate = 0.01, .truncate = 0.01}, 4);
    for (int i = 0; i < num_steps; ++i) play.Step(buffer.get(), model.get());
  }
  ReplayConfig config;
  ReplayShape shape{{2, 3}, 2, TerminalMode::kAbsorb};
  std::unique_ptr<ReplayBuffer> buffer;
  std::unique_ptr<ReplayModel> model;
};

TEST(ReplayContext, LoadsWithFewerSteps) {
  Played played;
  played.Play(333);
  for (const int num_context_steps : {0, 1, 5, 6}) {
    ReplayConfig config = played.config;
    config.num_context_steps = num_context_steps;
    const auto fewer = MakeBuffer(config, played.shape);
    const absl::Status imported = fewer->Import(played.buffer->Export());
    ASSERT_TRUE(imported.ok()) << imported.message();
    RandomStream random(1);
    TrainBatch batch;
    ASSERT_TRUE(fewer->Sample(200, random, &batch).ok());
    ASSERT_EQ(batch.num_context_steps, num_context_steps);
    played.model->ExpectBatch(batch);
    EXPECT_EQ(CountBeyondEviction(batch, *played.model) > 0, num_context_steps > 0);
  }
}

// More steps than were saved are there as long as nothing of their episode was evicted.
TEST(ReplayContext, LoadsWithMoreStepsWhereTheyAreStored) {
  Played played;
  ReplayConfig more = played.config;
  more.num_context_steps = 9;
  played.Play(40);
  const auto loaded = MakeBuffer(more, played.shape);
  const absl::Status imported = loaded->Import(played.buffer->Export());
  ASSERT_TRUE(imported.ok()) << imported.message();
  RandomStream random(1);
  TrainBatch batch;
  ASSERT_TRUE(loaded->Sample(200, random, &batch).ok());
  played.model->ExpectBatch(batch);

  played.Play(333);
  const absl::Status refused = MakeBuffer(more, played.shape)->Import(played.buffer->Export());
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("segments need 9 context steps here"));
}

// Nobody searches stored positions again yet, but a shape that asks for the past of a root gets it.
TEST(ReplayContext, TheReachOfARootIsStoredToo) {
  Played played;
  played.config.num_context_steps = 0;
  played.shape.num_root_past_steps = 6;
  played.Play(333);
  ReplayConfig burn_in = played.config;
  burn_in.num_context_steps = 6;
  const auto loaded = MakeBuffer(burn_in, played.shape);
  ASSERT_TRUE(loaded->Import(played.buffer->Export()).ok());
  EXPECT_EQ(loaded->stats().bytes, played.buffer->stats().bytes);
  RandomStream random(1);
  TrainBatch batch;
  ASSERT_TRUE(loaded->Sample(200, random, &batch).ok());
  played.model->ExpectBatch(batch);
  EXPECT_GT(CountBeyondEviction(batch, *played.model), 0);
}

}  // namespace
}  // namespace lzero::replay_context_test
