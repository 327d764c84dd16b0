// What a machine without CUDA is told.
#include "lzero/graph/cuda_graph_library.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/tensor/cuda_library.h"

namespace lzero::cuda_graph_library_test {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(CudaGraphLibraryTest, WithoutADeviceThereIsNoBackendAndTheReasonIsTold) {
  if (ListCudaDevices().ok()) return;  // tests/graph/cuda tests those
  const auto backend = MakeCudaGraphBackend(0);
  ASSERT_FALSE(backend.ok());
  EXPECT_FALSE(backend.status().message().empty());
  // What the library takes from the program that loads it is there.
  EXPECT_THAT(std::string(backend.status().message()), Not(HasSubstr("undefined symbol")));
  // The second call says the same.
  EXPECT_EQ(MakeCudaGraphBackend(0).status(), backend.status());
  EXPECT_EQ(LoadCuda(), backend.status());
  // That there is no device, before any library that would be of use with one.
  EXPECT_EQ(LoadCuda(), ListCudaDevices().status());
}

TEST(CudaGraphLibraryTest, ALibraryThatWasNotBuiltIsNamed) {
  EXPECT_THAT(FindCudaLibrary("libno_such_thing.so").status().message(),
              HasSubstr("this build has no libno_such_thing.so"));
}

}  // namespace
}  // namespace lzero::cuda_graph_library_test
