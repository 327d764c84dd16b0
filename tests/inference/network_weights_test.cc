#include "lzero/inference/network_weights.h"

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
  const auto table = weights.Get("action_table");
  ASSERT_EQ(table.size(), 4u * 8u);
  const at::Tensor expected = network->named_parameters()["action_table"];
  EXPECT_EQ(table.data(), expected.const_data_ptr<float>());  // not copied
  EXPECT_EQ(weights.Norm("dynamics.norm").bias.size(), 32u);
  EXPECT_DEATH(weights.Get("nothing"), "no parameter nothing");
}

}  // namespace
}  // namespace lzero::network_weights_test
