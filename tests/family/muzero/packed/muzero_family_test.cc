// The family through the seam: the parts that it makes; its rules in latent_family_test.cc.
#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/build.h"
#include "tests/train/train_testing.h"

namespace lzero::muzero_family_test {
namespace {

ExperimentConfig MuZeroConfig() {
  ExperimentConfig config = TinyConfig();
  config.model.family = Family::kMuZero;
  config.model.latent_loss = LatentLoss::kNone;
  return config;
}

TEST(MuZeroFamily, MakesItsNetworkAndEngine) {
  const ExperimentConfig config = MuZeroConfig();
  const TensorFamily& family = MuZeroTensorFamily();
  const WorldModelShape shape{{4}, 2, 0};
  const auto network = family.make_network(config.model, shape, 3, at::kCPU).value();
  EXPECT_NE(dynamic_cast<const MuZeroNetwork*>(network.get()), nullptr);
  EXPECT_EQ(family.make_network(config.model, shape, 1, at::kMeta).value()->num_parameters(),
            network->num_parameters());
  ThreadPool pool(1);
  auto role = BuildCollector(config, NativeRegistry(), &pool).value();
  EXPECT_EQ(role.inference->runner_name(), "packed");
  ASSERT_TRUE(role.inference->CopyWeightsFrom(NetworkWeights(*network)).ok());
  ASSERT_TRUE(role.collector->Step(0).ok());
  EXPECT_EQ(role.collector->staged().num_steps(), 3);
}

}  // namespace
}  // namespace lzero::muzero_family_test
