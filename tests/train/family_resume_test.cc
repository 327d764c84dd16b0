// Exact resume of sampled searches and of the other families: see trainer_resume_test.cc.
#include <string>

#include "gtest/gtest.h"
#include "tests/train/trainer_testing.h"

namespace lzero::family_resume_test {
namespace {

ExperimentConfig AlphaZeroConfig(const std::string& env) {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kAlphaZero;
  config.env.id = env;
  if (env != "cartpole") config.env.max_episode_steps = 0;
  return config;
}

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

TEST(FamilyResumeTest, AlphaZeroInAGameForTwo) {
  ExperimentConfig config = AlphaZeroConfig("tictactoe");
  config.env.random_opening_fraction = 0.5;
  ExpectExactResume(config, 2);
}

TEST(FamilyResumeTest, AlphaZeroWithACapPrioritiesAndGumbel) {
  ExperimentConfig config = AlphaZeroConfig("cartpole");
  config.env.max_episode_steps = 10;
  config.replay.prioritized = true;
  config.search.policy = SearchPolicy::kGumbel;
  config.search.q_transform = QTransform::kCompletedByMixValue;
  ExpectExactResume(config, 3);
}

TEST(FamilyResumeTest, AlphaZeroWhenCollectionAndLearningOverlap) {
  ExperimentConfig config = AlphaZeroConfig("tictactoe");
  config.deterministic = false;
  ExpectExactResume(config, 4);
}

}  // namespace
}  // namespace lzero::family_resume_test
