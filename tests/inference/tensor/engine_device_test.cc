// The device of a config: the CPU always, CUDA where it is, and otherwise the reason.
#include "lzero/inference/tensor/engine_device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/unizero/world_model.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/graph/replay_backend.h"

namespace lzero::engine_device_test {
namespace {

using testing::StartsWith;

TEST(EngineDeviceTest, TheCpuIsAlwaysThere) {
  EXPECT_EQ(PrepareDevice(Device::kCpu).value(), at::Device(at::kCPU));
}

TEST(EngineDeviceTest, OnTheCpuWorkIsSimplyDoneAndItsErrorPassedOn) {
  const EngineDevice device;
  int calls = 0;
  EXPECT_TRUE(device
                  .OnStream([&] {
                    ++calls;
                    return absl::OkStatus();
                  })
                  .ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(device.OnStream([] { return absl::DataLossError("gone"); }),
            absl::DataLossError("gone"));
}

TEST(EngineDeviceTest, WeightsAreCopiedBeforeWhatFollows) {
  ModelConfig config;
  config.embed_dim = 8;
  const auto source = WorldModel::Create(config, {{4}, 2}, 1).value();
  const auto copy = WorldModel::Create(config, {{4}, 2}, 2).value();
  const at::Tensor from = source->parameters().front();
  const at::Tensor to = copy->parameters().front();
  EXPECT_FALSE(at::equal(from, to));
  bool was_equal = false;
  ASSERT_TRUE(EngineDevice()
                  .CopyWeights(*source, copy.get(), [&] { was_equal = at::equal(from, to); })
                  .ok());
  EXPECT_TRUE(was_equal);
}

TEST(EngineDeviceTest, WhatCannotBeMadeIsUnloaded) {
  EngineDevice device;
  const auto backend = std::make_shared<ReplayBackend>();
  device.backend = backend;
  using Made = absl::StatusOr<int>;
  EXPECT_EQ(MakeOnDevice(device, [](const EngineDevice&) -> Made { return 7; }).value(), 7);
  EXPECT_EQ(backend->num_unloads, 0);
  const Made failed = MakeOnDevice(device, [](const EngineDevice&) -> Made {
    at::ones({2}).view({3});
    return 7;
  });
  EXPECT_THAT(std::string(failed.status().message()), StartsWith("libtorch: shape '[3]'"));
  EXPECT_EQ(backend->num_unloads, 1);
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
  EXPECT_EQ(AnyUniZero(options).status(), device.status());
}

}  // namespace
}  // namespace lzero::engine_device_test
