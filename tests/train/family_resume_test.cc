// Exact resume of sampled searches and of the other families: see trainer_resume_test.cc.
#include "gtest/gtest.h"
#include "tests/train/trainer_testing.h"

namespace lzero {
namespace {

TEST(FamilyResumeTest, SampledBoxActions) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "pendulum";
  config.search.num_sampled_actions = 5;
  config.replay.num_context_steps = 2;
  ExpectExactResume(config, 2);
}

TEST(FamilyResumeTest, SampledDiscreteActions) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "tictactoe";
  config.env.max_episode_steps = 0;
  config.search.num_sampled_actions = 4;
  ExpectExactResume(config, 3);
}

TEST(FamilyResumeTest, MuZero) {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kMuZero;
  config.model.latent_loss = LatentLoss::kCosine;
  ExpectExactResume(config, 3);
}

TEST(FamilyResumeTest, StochasticMuZero) {
  ExperimentConfig config = TinyConfig();
  config.env.id = "2048";
  config.model.family = Family::kStochasticMuZero;
  config.model.latent_loss = LatentLoss::kNone;
  ExpectExactResume(config, 3);
}

TEST(FamilyResumeTest, SequencesFromEpisodeStarts) {
  ExperimentConfig config = TinyConfig();
  config.replay.sample_from = SampleFrom::kEpisodeStarts;
  ExpectExactResume(config, 3);
}

}  // namespace
}  // namespace lzero
