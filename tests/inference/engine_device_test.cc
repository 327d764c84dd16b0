// The device of a config: the CPU always, CUDA where it is, and otherwise the reason.
#include "lzero/inference/engine_device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/inference/unizero_inference.h"
#include "lzero/tensor/cuda_library.h"

namespace lzero {
namespace {

using testing::StartsWith;

TEST(EngineDeviceTest, TheCpuIsAlwaysThere) {
  EXPECT_EQ(PrepareDevice(Device::kCpu).value(), at::Device(at::kCPU));
}

TEST(EngineDeviceTest, WithoutCudaTheReasonNamesTheSetting) {
  if (ListCudaDevices().ok()) return;
  const auto device = PrepareDevice(Device::kCuda);
  EXPECT_THAT(std::string(device.status().message()), StartsWith("inference.device: cuda: "));
  EngineOptions options;
  options.shape = {{4}, 2};
  options.num_envs = 1;
  options.search.num_simulations = 1;
  options.inference.device = Device::kCuda;
  EXPECT_EQ(UniZeroInference::Create(options).status(), device.status());
}

}  // namespace
}  // namespace lzero
