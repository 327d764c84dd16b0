#include <algorithm>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "lzero/train/run_plan.h"
#include "tests/train/train_testing.h"

namespace lzero::stochastic_muzero_family_test {
namespace {

using ::testing::HasSubstr;

ExperimentConfig StochasticConfig() {
  ExperimentConfig config = TinyConfig();
  config.env.id = "2048";
  config.model.family = Family::kStochasticMuZero;
  config.model.latent_loss = LatentLoss::kNone;
  return config;
}

std::string ErrorOf(const ExperimentConfig& config) {
  return std::string(PlanRun(config, NativeRegistry()).status().message());
}

TEST(StochasticMuZeroFamily, RefusesWhatHasNoChance) {
  EXPECT_EQ(ErrorOf(StochasticConfig()), "");
  ExperimentConfig config = StochasticConfig();
  config.env.id = "cartpole";
  EXPECT_THAT(ErrorOf(config), HasSubstr("cartpole tells none; allowed: another family, or 2048"));
  config = StochasticConfig();
  config.search.num_sampled_actions = 2;
  EXPECT_THAT(ErrorOf(config), HasSubstr("searches all actions of a node; got 2"));
}

TEST(StochasticMuZeroFamily, ReadsTheWeightOfChance) {
  const std::vector<std::string> unread = StochasticMuZeroFamily().unread_fields(ModelConfig());
  EXPECT_EQ(std::count(unread.begin(), unread.end(), "loss.chance_weight"), 0);
  EXPECT_EQ(std::count(unread.begin(), unread.end(), "model.num_layers"), 1);
}

TEST(StochasticMuZeroFamily, StoresOutcomesAndSearchesThroughThem) {
  const ExperimentConfig config = StochasticConfig();
  const EnvSpec spec = BuildEnvSpec(config, NativeRegistry()).value();
  EXPECT_EQ(BuildReplayShape(config, spec).num_chance_outcomes, 32);
  ThreadPool pool(1);
  auto role = BuildCollector(config, NativeRegistry(), &pool).value();
  const TensorFamily& family = StochasticMuZeroTensorFamily();
  const WorldModelShape shape = BuildWorldModelShape(spec);
  const auto network = family.make_network(config.model, shape, 3, at::kCPU).value();
  EXPECT_EQ(family.make_network(config.model, shape, 1, at::kMeta).value()->num_parameters(),
            network->num_parameters());
  ASSERT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(*network)).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(role.collector->Step(i).ok());
  // The plain family stores none of it.
  ExperimentConfig plain = config;
  plain.model.family = Family::kMuZero;
  EXPECT_EQ(BuildReplayShape(plain, spec).num_chance_outcomes, 0);
}

}  // namespace
}  // namespace lzero::stochastic_muzero_family_test
