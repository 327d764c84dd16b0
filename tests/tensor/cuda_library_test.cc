#include "lzero/tensor/cuda_library.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::cuda_library_test {
namespace {

TEST(CudaLibraryTest, SaysWhatIsMissingOrListsDevices) {
  const auto devices = ListCudaDevices();
  if (devices.ok()) {
    EXPECT_THAT(*devices, testing::Each(testing::HasSubstr("sm_")));
    const auto memory = FindCudaMemory(static_cast<int>(devices->size()) - 1);
    ASSERT_TRUE(memory.ok()) << memory.status();
    EXPECT_GE(memory->total_bytes, memory->free_bytes);
    return;
  }
  EXPECT_TRUE(absl::IsNotFound(devices.status()));
  EXPECT_THAT(
      std::string(devices.status().message()),
      testing::AnyOf(testing::HasSubstr("liblzero_cuda"), testing::HasSubstr("no CUDA device: ")));
  EXPECT_FALSE(FindCudaMemory(0).ok());
}

TEST(CudaLibraryTest, SaysThatTheLibraryOrTheNameIsMissing) {
  const auto missing = FindInCudaLibrary("lz_cuda_no_such_function");
  EXPECT_TRUE(absl::IsNotFound(missing.status()));
  EXPECT_THAT(std::string(missing.status().message()), testing::HasSubstr("liblzero_cuda"));
}

}  // namespace
}  // namespace lzero::cuda_library_test
