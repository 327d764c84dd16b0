// What kernels read is what the model's layers compute, before and after the weights change.
#include "lzero/family/unizero/device/device_weights.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero::device_weights_test {
namespace {

ModelConfig SmallConfig() {
  ModelConfig config;
  config.embed_dim = 12;
  config.num_heads = 2;
  config.head_dim = 20;
  config.support_size = 11;
  config.encoder_width = 8;
  return config;
}

at::Tensor Weight(const WorldModel& model, const std::string& name) {
  return model.named_parameters()[name];
}

// The first layer of a head behind its own LayerNorm.
at::Tensor FirstLayer(const WorldModel& model, const std::string& head, const at::Tensor& x) {
  const at::Tensor normal = at::layer_norm(x, {x.size(1)}, Weight(model, head + ".norm_in.weight"),
                                           Weight(model, head + ".norm_in.bias"));
  return at::linear(normal, Weight(model, head + ".first.weight"),
                    Weight(model, head + ".first.bias"));
}

void ExpectFirstLayers(const DeviceWeights& weights, const WorldModel& model, double tolerance) {
  const torch::NoGradGuard no_grad;
  const at::Tensor x = at::randn({5, 12});
  const at::Tensor normal = at::layer_norm(x, {12});
  const auto expect = [&](const DeviceHeads& heads, const char* first, const char* second) {
    const at::Tensor got = at::linear(normal, heads.first.weight.to(at::kFloat), heads.first.bias);
    const at::Tensor expected =
        at::cat({FirstLayer(model, first, x), FirstLayer(model, second, x)}, 1);
    EXPECT_LT((got - expected).abs().max().item<double>(), tolerance);
  };
  expect(weights.action_heads(), "reward_head", "latent_head");
  expect(weights.latent_heads(), "value_head", "policy_head");
}

TEST(DeviceWeightsTest, TheFirstLayersOfHeadsHoldTheNormBeforeThem) {
  const auto model = RandomModel(SmallConfig(), {{3}, 4}, 1),
             other = RandomModel(SmallConfig(), {{3}, 4}, 2);
  DeviceWeights weights(*model, at::kFloat);
  weights.Refresh();
  ExpectFirstLayers(weights, *model, 1e-5);
  const void* address = weights.action_heads().first.weight.const_data_ptr();
  model->CopyWeightsFrom(*other);
  weights.Refresh();
  ExpectFirstLayers(weights, *other, 1e-5);
  EXPECT_EQ(weights.action_heads().first.weight.const_data_ptr(), address);
}

TEST(DeviceWeightsTest, OperandsOfFloatAreTheModelsOwnAndOthersAreRounded) {
  const auto model = RandomModel(SmallConfig(), {{3}, 4}, 3);
  const at::Tensor expand = Weight(*model, "transformer.block1.expand.weight");
  DeviceWeights floats(*model, at::kFloat), halves(*model, at::kBFloat16);
  EXPECT_EQ(floats.blocks()[1].expand.weight.const_data_ptr(), expand.const_data_ptr());
  halves.Refresh();
  EXPECT_TRUE(at::equal(halves.blocks()[1].expand.weight, expand.to(at::kBFloat16)));
  ExpectFirstLayers(halves, *model, 0.05);
}

}  // namespace
}  // namespace lzero::device_weights_test
