// What MuZero, Stochastic MuZero and AlphaZero refuse alike.
#include "lzero/family/packed/eager_rules.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/train/build.h"
#include "lzero/train/run_plan.h"
#include "tests/train/train_testing.h"

namespace lzero::eager_rules_test {
namespace {

using ::testing::HasSubstr;

// A config that is right, of each of the families.
std::vector<ExperimentConfig> EagerConfigs() {
  std::vector<ExperimentConfig> configs(3, TinyConfig());
  configs[0].model.family = Family::kMuZero;
  configs[1].model.family = Family::kStochasticMuZero;
  configs[1].env.id = "2048";
  configs[2].model.family = Family::kAlphaZero;
  for (ExperimentConfig& config : configs) config.model.latent_loss = LatentLoss::kNone;
  configs[2].model.latent_loss = LatentLoss::kMse;
  return configs;
}

std::string ErrorOf(const ExperimentConfig& config) {
  return std::string(PlanRun(config, NativeRegistry()).status().message());
}

TEST(EagerFamily, AllThreeRefuseWhatTheyDoNotHave) {
  const char* const names[] = {"muzero", "stochastic_muzero", "alphazero"};
  for (size_t i = 0; i < 3; ++i) {
    const ExperimentConfig right = EagerConfigs()[i];
    EXPECT_EQ(ErrorOf(right), "") << names[i];
    const std::string family = absl::StrCat("family ", names[i]);
    ExperimentConfig config = right;
    config.replay.num_context_steps = 3;
    EXPECT_THAT(
        ErrorOf(config),
        HasSubstr(
            family +
            " sees one observation and none before it; got 3; allowed: 0, or family unizero"));
    config = right;
    config.inference.dtype = InferenceDtype::kBf16;
    EXPECT_THAT(ErrorOf(config),
                HasSubstr(family + " has fp32 alone; got bf16; allowed: fp32, or family unizero"));
    config = right;
    config.inference.graphs = Graphs::kRequired;
    EXPECT_THAT(
        ErrorOf(config),
        HasSubstr(family +
                  " records no graphs; got required; allowed: preferred, off, or family unizero"));
  }
}

TEST(EagerFamily, RecordsNoGraphs) {
  ExperimentConfig config = EagerConfigs()[0];
  for (const Runner runner : {Runner::kEager, Runner::kPacked}) {
    config.inference.runner = runner;
    EXPECT_TRUE(EagerFamilyErrors(config, {}).empty());
  }
  for (const auto& [runner, name] : {std::pair(Runner::kCudaGraph, "cuda_graph"),
                                     std::pair(Runner::kCudaSearchGraph, "cuda_search_graph")}) {
    config.inference.runner = runner;
    const auto errors = EagerFamilyErrors(config, {});
    ASSERT_EQ(errors.size(), 1u);
    EXPECT_EQ(errors[0].keys, (std::vector<std::string>{"inference.runner", "model.family"}));
    EXPECT_EQ(errors[0].message, absl::StrCat("family muzero records no graphs; got ", name,
                                              "; allowed: auto, eager, packed, or family unizero"));
  }
}

TEST(EagerFamily, ReadsCellsOnlyWhereActionsHaveThem) {
  ExperimentConfig config = EagerConfigs()[0];
  config.model.policy_cells = true;
  config.model.encoder = EncoderKind::kBoard;
  EnvSpec spec;
  spec.id = "connect4";
  const auto errors = EagerFamilyErrors(config, spec);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].message,
            "actions of connect4 have no cells; got true; allowed: false, or a game "
            "whose actions have, as chess and go");
  spec.action.places = {0, -1};
  EXPECT_TRUE(EagerFamilyErrors(config, spec).empty());
  config.model.encoder = EncoderKind::kVector;
  EXPECT_EQ(EagerFamilyErrors(config, spec).size(), 1u);
}

TEST(EagerFamily, RunsPackedOnTheCpuUnlessToldOtherwise) {
  InferenceConfig config;
  EXPECT_TRUE(RunsPacked(config));
  config.runner = Runner::kPacked;
  EXPECT_TRUE(RunsPacked(config));
  config.device = Device::kCuda;
  EXPECT_FALSE(RunsPacked(config));
  config = {};
  config.runner = Runner::kEager;
  EXPECT_FALSE(RunsPacked(config));
}

}  // namespace
}  // namespace lzero::eager_rules_test
