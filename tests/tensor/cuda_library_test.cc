#include "lzero/tensor/cuda_library.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::cuda_library_test {
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

TEST(CudaLibraryTest, SaysThatTheLibraryOrTheNameIsMissing) {
  const auto missing = FindInCudaLibrary("lz_cuda_no_such_function");
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(std::string(missing.status().message()), testing::HasSubstr("liblzero_cuda"));
}

}  // namespace
}  // namespace lzero::cuda_library_test
