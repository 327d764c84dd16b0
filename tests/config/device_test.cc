// Names of devices: what they are read from, how they print, and what is none.
#include "lzero/config/device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/schema.h"
#include "tests/config/config_test_tools.h"

namespace lzero::device_test {
namespace {

using testing::HasSubstr;

constexpr Device kThird = {Device::Kind::kCuda, 2};

TEST(DeviceTest, NamesAreReadAndPrinted) {
  const std::pair<const char*, Device> names[] = {
      {"cpu", Device::kCpu}, {"cuda", Device::kCuda}, {"cuda:2", kThird}};
  for (const auto& [name, device] : names) {
    EXPECT_EQ(ParseDevice(name).value(), device);
    EXPECT_EQ(DeviceText(device), name);
  }
  EXPECT_EQ(ParseDevice("cuda:0").value(), Device::kCuda);
  EXPECT_EQ(ParseDevice("cuda:119").value().index, 119);
  EXPECT_FALSE(Device::kCpu == Device::kCuda);
  EXPECT_FALSE(Device::kCuda == kThird);
}

TEST(DeviceTest, WhatIsNoDeviceIsRefusedInWords) {
  for (const char* name : {"cuda:", "cuda:-1", "cuda:120", "cuda:01", "cuda: 1", "cuda:x"}) {
    EXPECT_EQ(ParseDevice(name).status().message(), "N of cuda:N is no number from 0 to 119")
        << name;
  }
  for (const char* name : {"", "CPU", "cpu:0", "cuda1", "gpu", "cuda:1 "}) {
    EXPECT_FALSE(ParseDevice(name).ok()) << name;
  }
  ExperimentConfig config;
  EXPECT_EQ(SetField(config, "inference.device", {"tpu"}),
            "unknown choice; got 'tpu'; allowed: one of cpu, cuda, cuda:N; did you mean 'cpu'?");
  EXPECT_EQ(SetField(config, "train.device", {"cuda:1000"}),
            "N of cuda:N is no number from 0 to 119; got 'cuda:1000'; allowed: one of cpu, cuda, "
            "cuda:N, or null");
  EXPECT_EQ(SetField(config, "inference.device", {"", false, true}),
            "a value is needed; got null; allowed: one of cpu, cuda, cuda:N");
}

TEST(DeviceTest, TheLearnerIsWithTheSearchesUnlessItHasADeviceOfItsOwn) {
  ExperimentConfig config;
  EXPECT_EQ(ValueText(config, "train.device"), "null");
  EXPECT_EQ(SetField(config, "inference.device", {"cuda:2"}), std::nullopt);
  EXPECT_EQ(config.learner_device(), kThird);
  EXPECT_EQ(SetField(config, "train.device", {"cpu"}), std::nullopt);
  EXPECT_EQ(config.learner_device(), Device::kCpu);
  EXPECT_EQ(config.inference.device, kThird);
  EXPECT_EQ(SetField(config, "train.device", {"", false, true}), std::nullopt);
  EXPECT_FALSE(config.train.device.has_value());
}

// Numbers of updates are the learner's device's matter, runners and graphs that of the searches.
TEST(DeviceTest, EachRuleAsksTheDeviceThatItIsAbout) {
  ExperimentConfig config;
  config.inference.device = Device::kCpu;
  config.inference.runner = Runner::kPacked;
  config.train.device = kThird;
  config.train.dtype = TrainDtype::kBf16;
  EXPECT_TRUE(ConsistencyErrors(config).empty());
  config.inference.device = kThird;
  config.inference.runner = Runner::kCudaGraph;
  config.train.device = Device::kCpu;
  const auto errors = ConsistencyErrors(config);
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].keys.front(), "train.dtype");
  EXPECT_THAT(errors[0].message, HasSubstr("got device cpu"));
  config.train.dtype = TrainDtype::kFp32;
  EXPECT_TRUE(ConsistencyErrors(config).empty());
}

}  // namespace
}  // namespace lzero::device_test
