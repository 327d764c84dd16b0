// What the family promises before anything is made is what is made.
#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/tensor_families.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "tests/train/train_testing.h"

namespace lzero::unizero_family_test {
namespace {

TEST(UniZeroFamily, CountsTheParametersOfTheNetworkThatItMakes) {
  const ModelConfig config = TinyConfig().model;
  for (const WorldModelShape& shape :
       {WorldModelShape{{4}, 2, 0}, WorldModelShape{{3}, 0, 1}, WorldModelShape{{5}, 0, 6}}) {
    const TensorFamily& family = UniZeroTensorFamily();
    const auto network = family.make_network(config, shape, 1, at::kCPU).value();
    EXPECT_NE(dynamic_cast<const WorldModel*>(network.get()), nullptr);
    EXPECT_EQ(family.make_network(config, shape, 1, at::kMeta).value()->num_parameters(),
              network->num_parameters());
  }
}

TEST(UniZeroFamily, MakesTheEngineOfItsNetwork) {
  EngineOptions options;
  options.model = TinyConfig().model;
  options.shape = {{4}, 2, 0};
  options.num_envs = 2;
  options.search.num_simulations = 4;
  const ModelFamily& family = UniZeroFamily();
  auto engine = family.make_engine(options, {}).value();
  EXPECT_GT(family.engine_bytes(options, {}).value(), 0);
  EXPECT_EQ(engine->runner_name(), "packed");
  const auto network =
      UniZeroTensorFamily().make_network(options.model, options.shape, 1, at::kCPU).value();
  EXPECT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
}

TEST(UniZeroFamily, HoldsTheModelToTheRulesOfATransformer) {
  ExperimentConfig config = TinyConfig();
  EXPECT_TRUE(UniZeroFamily().model_errors(config.model).empty());
  config.model.context_length = 7;
  const auto errors = UniZeroFamily().model_errors(config.model);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].keys[0], "model.context_length");
  EXPECT_EQ(
      UniZeroFamily().unread_fields(config.model),
      (std::vector<std::string>{"loss.chance_weight", "model.head_pooling", "model.policy_cells"}));
}

// W 4, L 1: a root reaches back 3 tokens, 2 steps.
TEST(UniZeroFamily, RootsReadTheReachOfTheBands) {
  EXPECT_EQ(UniZeroFamily().num_root_past_steps(TinyConfig().model), 2);
  EXPECT_EQ(UniZeroFamily().describe(TinyConfig().model),
            "unizero: 1 layer, 1 head, width 8, context of 4 tokens");
}

}  // namespace
}  // namespace lzero::unizero_family_test
