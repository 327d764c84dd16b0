#include "lzero/inference/tensor/network_weights.h"

#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/tensor/torch.h"

namespace lzero::network_weights_test {
namespace {

TEST(NetworkWeights, AreTheParametersByName) {
  ModelConfig config;
  config.latent_loss = LatentLoss::kNone;
  config.embed_dim = 8;
  const auto network = MuZeroNetwork::Create(config, {{3}, 4}, 1).value();
  const NetworkWeights weights(*network);
  ASSERT_TRUE(weights.Prepare().ok());
  const auto table = weights.Get("action_table", {4, 8});
  ASSERT_EQ(table.size(), 4u * 8u);
  const at::Tensor expected = network->named_parameters()["action_table"];
  EXPECT_EQ(table.data(), expected.const_data_ptr<float>());  // not copied
  EXPECT_EQ(weights.Norm("dynamics.norm", 32).bias.size(), 32u);
  EXPECT_DEATH(weights.Get("nothing", {1}), "no parameter nothing");
  EXPECT_DEATH(weights.Get("action_table", {8, 4}), "\\[4, 8\\], not \\[8, 4\\]");
}

}  // namespace
}  // namespace lzero::network_weights_test
