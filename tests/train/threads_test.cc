// The number of threads changes nothing that is learned, by models that have several blocks of rows
// in each kernel.
#include <thread>

#include "gtest/gtest.h"
#include "lzero/base/machine.h"
#include "lzero/base/stopwatch.h"
#include "lzero/kernels/parallel.h"
#include "tests/train/trainer_testing.h"

namespace lzero::threads_test {
namespace {

void ExpectSameWithTwoThreads(ExperimentConfig config) {
  config.deterministic = false;
  config.train.batch_size = 192;
  config.train.updates_per_env_step = 0.1;
  config.train.num_threads = config.inference.num_threads = 1;
  TestRun one(config);
  const auto outcome = one.Run();
  ASSERT_TRUE(outcome.ok()) << outcome.status();
  ASSERT_GT(outcome->state.updates, 5);
  config.train.num_threads = config.inference.num_threads = 2;
  TestRun two(config);
  ASSERT_TRUE(two.Run().ok());
  ExpectSameBytes(two.Latest().content.files, one.Latest().content.files);
}

ExperimentConfig BoardConfig(Family family) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "connect4";
  config.env.max_episode_steps = 0;
  config.model.family = family;
  config.model.encoder = EncoderKind::kBoard;
  return config;
}

TEST(ThreadsTest, UniZero) {
  ExperimentConfig config = TinyConfig();
  config.model.embed_dim = 64;
  ExpectSameWithTwoThreads(config);
}

TEST(ThreadsTest, UniZeroOfPictures) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "catch";
  config.env.settings = {{"columns", "5"}, {"pixels", "4"}};
  config.env.max_episode_steps = 0;
  config.model.encoder = EncoderKind::kImage;
  config.model.encoder_channels = 16;
  ExpectSameWithTwoThreads(config);
}

TEST(ThreadsTest, MuZeroOfVectors) {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kMuZero;
  config.model.latent_loss = LatentLoss::kCosine;
  ExpectSameWithTwoThreads(config);
}

TEST(ThreadsTest, MuZeroOfPlanes) {
  ExperimentConfig config = BoardConfig(Family::kMuZero);
  config.model.latent_loss = LatentLoss::kCosine;
  ExpectSameWithTwoThreads(config);
}

TEST(ThreadsTest, StochasticMuZero) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "2048";
  config.model.family = Family::kStochasticMuZero;
  config.model.latent_loss = LatentLoss::kNone;
  ExpectSameWithTwoThreads(config);
}

// More threads than cores: while learner and collector both work, each keeps to its own.
TEST(ThreadsTest, ShareTheCoresOfTheMachine) {
  ExperimentConfig config = ProbeConfig();
  config.deterministic = false;
  config.train.num_threads = config.inference.num_threads = MachineCores();
  config.train.updates_per_env_step = 1.0;
  config.train.start_env_steps = 3;
  int num_shared = 0;
  TestRun run(config, [&](ProbeStep& step) {
    if (step.is_evaluator) return;
    // Waits for the learner, 20 ms where there is nothing to learn.
    const double begun = MonotonicSeconds();
    while (HasSpareCores() && MonotonicSeconds() - begun < 0.02) std::this_thread::yield();
    num_shared += !HasSpareCores();
  });
  ASSERT_TRUE(run.Run().ok());
  EXPECT_GT(num_shared, 0);
}

TEST(ThreadsTest, AlphaZero) { ExpectSameWithTwoThreads(BoardConfig(Family::kAlphaZero)); }

}  // namespace
}  // namespace lzero::threads_test
