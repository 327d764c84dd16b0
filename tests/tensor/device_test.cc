#include "lzero/tensor/device.h"

#include <string>

#include "gtest/gtest.h"

namespace lzero {
namespace {

TEST(DeviceTest, KnowsTheCpu) {
  const auto device = ParseDevice("cpu");
  ASSERT_TRUE(device.ok()) << device.status();
  EXPECT_EQ(*device, at::Device(at::kCPU));
}

TEST(DeviceTest, SaysWhatIsAllowed) {
  const absl::Status cuda = ParseDevice("cuda:1").status();
  EXPECT_TRUE(absl::IsFailedPrecondition(cuda));
  EXPECT_EQ(std::string(cuda.message()), "device 'cuda:1' is not part of this build; allowed: cpu");
  EXPECT_TRUE(absl::IsFailedPrecondition(ParseDevice("cuda").status()));
  const absl::Status unknown = ParseDevice("tpu").status();
  EXPECT_TRUE(absl::IsInvalidArgument(unknown));
  EXPECT_EQ(std::string(unknown.message()), "'tpu' is not a device; allowed: cpu");
}

TEST(DeviceTest, KnowsOneNumberType) {
  EXPECT_EQ(*ParseDtype("fp32"), at::kFloat);
  const absl::Status unknown = ParseDtype("fp8").status();
  EXPECT_TRUE(absl::IsInvalidArgument(unknown));
  EXPECT_EQ(std::string(unknown.message()), "'fp8' is not a number type; allowed: fp32");
}

}  // namespace
}  // namespace lzero
