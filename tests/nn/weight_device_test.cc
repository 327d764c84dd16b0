#include "lzero/nn/weight_device.h"

#include "gtest/gtest.h"
#include "lzero/nn/layers.h"
#include "lzero/tensor/torch.h"

namespace lzero::weight_device_test {
namespace {

TEST(WeightDevice, LayersAreCountedWithoutMemoryWhileTheGuardLives) {
  {
    const WeightDeviceGuard guard(at::kMeta);
    const LinearLayer layer(int64_t{1} << 20, int64_t{1} << 20);  // 4 TiB
    EXPECT_TRUE(layer.weight.is_meta());
    EXPECT_EQ(layer.weight.numel(), int64_t{1} << 40);
    const WeightDeviceGuard inner(at::kCPU);
    EXPECT_TRUE(LinearLayer(2, 3).weight.is_cpu());
  }
  EXPECT_TRUE(LinearLayer(2, 3).weight.is_cpu());
}

TEST(WeightDevice, ASeedGivesTheWeightsThatLibtorchDraws) {
  torch::manual_seed(7);
  const at::Tensor expected = LinearLayer(5, 3).weight;
  SeedWeights(7);
  EXPECT_TRUE(at::equal(LinearLayer(5, 3).weight, expected));
}

}  // namespace
}  // namespace lzero::weight_device_test
