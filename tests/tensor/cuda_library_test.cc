#include "lzero/tensor/cuda_library.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero {
namespace {

TEST(CudaLibraryTest, SaysWhatIsMissingOrListsDevices) {
  const auto devices = ListCudaDevices();
  if (devices.ok()) {
    EXPECT_THAT(*devices, testing::HasSubstr("sm_"));
    return;
  }
  EXPECT_TRUE(absl::IsNotFound(devices.status()));
  EXPECT_THAT(
      std::string(devices.status().message()),
      testing::AnyOf(testing::HasSubstr("liblzero_cuda"), testing::HasSubstr("no CUDA device: ")));
}

}  // namespace
}  // namespace lzero
