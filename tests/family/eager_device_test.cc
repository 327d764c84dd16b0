#include "lzero/family/eager_device.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/base/log.h"

namespace lzero::eager_device_test {
namespace {

using ::testing::HasSubstr;

// Whether a device is there or not.
TEST(EagerDevice, OnADeviceAutoSaysThatItRecordsNothing) {
  EngineOptions options;
  options.owner = "collector";
  const auto log_of = [&options] {
    ShowDetails();
    testing::internal::CaptureStderr();
    MakeEagerDevice(options).IgnoreError();
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(log_of(), "");
  options.inference.device = Device::kCuda;
  EXPECT_THAT(log_of(), HasSubstr("runner        collector: auto chose eager: family unizero alone "
                                  "records its searches on a device"));
}

}  // namespace
}  // namespace lzero::eager_device_test
