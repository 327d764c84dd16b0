// AlphaZero through the seam: what it refuses and in which words, that it learns a batch by heart,
// plays, grades, and resumes exactly.
#include <algorithm>

#include "absl/strings/str_join.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/alphazero/packed/alphazero_engine.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "lzero/train/learner.h"
#include "lzero/train/plan_text.h"
#include "lzero/train/run_rules.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::alphazero_family_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

ExperimentConfig Config(const std::string& env) {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kAlphaZero;
  config.env.id = env;
  if (env != "cartpole") config.env.max_episode_steps = 0;
  return config;
}

EnvSpec SpecOf(const ExperimentConfig& config) {
  return BuildEnvSpec(config, NativeRegistry()).value();
}

std::vector<std::string> Messages(const ExperimentConfig& config, const EnvSpec& spec) {
  std::vector<std::string> messages;
  for (const ConsistencyError& error : AlphaZeroFamily().errors(config, spec)) {
    messages.push_back(absl::StrCat(absl::StrJoin(error.keys, " "), ": ", error.message));
  }
  return messages;
}

TEST(AlphaZeroFamily, TakesWhatCanBeSavedAndIsDeterministic) {
  for (const char* env : {"tictactoe", "connect4", "othello", "cartpole", "catch"}) {
    const ExperimentConfig config = Config(env);
    EXPECT_THAT(Messages(config, SpecOf(config)), IsEmpty()) << env;
    EXPECT_THAT(SpecErrors(config, SpecOf(config)), IsEmpty()) << env;
  }
}

TEST(AlphaZeroFamily, RefusesEnvironmentsThatItCannotSearchIn) {
  ExperimentConfig config = Config("tictactoe");
  EnvSpec spec = SpecOf(config);
  spec.can_save = false;
  EXPECT_THAT(
      Messages(config, spec),
      ElementsAre("model.family env.id: alphazero searches saved states of the environment; "
                  "got tictactoe, which cannot be saved (nor can any that runs in worker "
                  "processes); allowed: an environment with Save and Load, or "
                  "another model.family"));
  spec = SpecOf(config);
  spec.deterministic = false;
  const std::string random =
      "model.family env.id: a saved state holds the random numbers to come, and alphazero would "
      "search them; got tictactoe, whose steps are random; allowed: a deterministic environment, "
      "or "
      "another model.family";
  EXPECT_THAT(Messages(config, spec), ElementsAre(random));
  spec = SpecOf(config);
  spec.num_chance_outcomes = 3;
  EXPECT_THAT(Messages(config, spec), ElementsAre(random));
  EXPECT_THAT(Messages(Config("2048"), SpecOf(Config("2048"))),
              ElementsAre(HasSubstr("got 2048, whose steps are random")));
  config = Config("pendulum");
  EXPECT_THAT(Messages(config, SpecOf(config)),
              ElementsAre("model.family env.id: alphazero plays every action of a node in the "
                          "environment; got pendulum, which has box actions; allowed: discrete "
                          "ones, or another model.family"));
  // Not that it needs a number of sampled actions, which would not help.
  EXPECT_EQ(SpecErrors(config, SpecOf(config))[0].keys[0], "model.family");
}

TEST(AlphaZeroFamily, ReadsNothingOfATransformerOrOfAModelOfTheWorld) {
  const std::vector<std::string> unread = AlphaZeroFamily().unread_fields(ModelConfig());
  for (const char* field :
       {"model.num_layers", "model.num_heads", "model.context_length", "model.dropout",
        "model.latent_loss", "loss.latent_weight", "loss.reward_weight", "loss.chance_weight"}) {
    EXPECT_EQ(std::count(unread.begin(), unread.end(), field), 1) << field;
  }
}

TEST(AlphaZeroFamily, MakesTheNetworkItCountsAndTheEngineOfIt) {
  const ExperimentConfig config = Config("tictactoe");
  const EnvRegistry registry = NativeRegistry();
  EngineOptions options = BuildEngineOptions(config, SpecOf(config), 2, 4);
  const TensorFamily& tensors = AlphaZeroTensorFamily();
  const auto network = tensors.make_network(options.model, options.shape, 1, at::kCPU).value();
  EXPECT_NE(dynamic_cast<const AlphaZeroNetwork*>(network.get()), nullptr);
  EXPECT_EQ(
      tensors.make_network(options.model, options.shape, 1, at::kMeta).value()->num_parameters(),
      network->num_parameters());
  const EnvFactory make_env = BuildEnvFactory(config, registry);
  const ModelFamily& family = AlphaZeroFamily();
  EXPECT_EQ(family.engine_bytes(options, make_env).value(),
            PackedAlphaZeroBytes(options, make_env).value());
  auto engine = family.make_engine(options, make_env).value();
  EXPECT_TRUE(engine->NeedsState());
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
  EXPECT_EQ(family.num_root_past_steps(config.model), 0);
  EXPECT_EQ(
      family.describe(config.model),
      "alphazero: encoder of width 8, policy and value heads; searches in the environment itself");
}

TEST(AlphaZeroFamily, ThePlanNamesIt) {
  const ExperimentConfig config = Config("tictactoe");
  const auto plan = PlanRun(config, NativeRegistry());
  ASSERT_TRUE(plan.ok()) << plan.status();
  EXPECT_THAT(DescribePlan(config, *plan, "eager", false),
              HasSubstr(" parameters, alphazero: encoder of width 8, policy and value heads"));
}

TEST(AlphaZeroFamily, LearnsABatchByHeart) {
  SetTensorThreads(1);
  const auto learner =
      Learner::Create(Config("cartpole"), {{reference::kObservationSize}, reference::kNumActions})
          .value();
  const auto update = [&] {
    std::vector<float> priorities;
    ASSERT_TRUE(learner->Update(reference::RandomBatch(5, 0, 3, 3), 0.01, &priorities).ok());
    EXPECT_EQ(priorities.size(), 5u);
  };
  update();
  MetricMap first = learner->ReadMetrics();
  EXPECT_EQ(first["loss/latent"], 0.0);
  EXPECT_EQ(first["loss/reward"], 0.0);
  for (int i = 0; i < 200; ++i) update();
  learner->ReadMetrics();
  update();
  const MetricMap last = learner->ReadMetrics();
  EXPECT_LT(last.at("loss/policy"), 0.9 * first.at("loss/policy"));
  EXPECT_LT(last.at("loss/value"), 0.6 * first.at("loss/value"));
  EXPECT_LT(last.at("loss/total"), 0.8 * first.at("loss/total"));
}

// All positions of the game through the evaluator, as `eval --grade` asks for them.
TEST(AlphaZeroFamily, AnAgentIsGradedWithItsSearch) {
  ExperimentConfig config = Config("tictactoe");
  config.search.num_simulations = 30;
  const EnvRegistry registry = NativeRegistry();
  ThreadPool pool(1);
  const auto role = BuildEvaluator(config, registry, 64, 30, &pool).value();
  const auto grader = registry.MakeGrader("tictactoe").value();
  const auto report = grader->Grade([&](absl::Span<const TimeStep> positions) {
    return role.evaluator->ChooseActions(positions.subspan(0, positions.size()), true);
  });
  ASSERT_TRUE(report.ok()) << report.status();
  // Rules alone, without having learned anything.
  EXPECT_GT(report->optimal_fraction(), 0.8);
}

}  // namespace
}  // namespace lzero::alphazero_family_test
