// CUDA that is loaded too late, in a process of its own; skipped where there is no device.
#include <ATen/detail/CUDAHooksInterface.h>
#include <unistd.h>

#include <cstdio>

#include "gtest/gtest.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/tensor/cuda_library.h"

namespace lzero::load_order_test {
namespace {

TEST(LoadOrderDeathTest, LibtorchThatWasAskedForCudaBeforeIsToldOf) {
  if (!ListCudaDevices().ok()) GTEST_SKIP() << ListCudaDevices().status().message();
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto ask_and_load = [] {
    at::detail::getCUDAHooks();
    const absl::Status loaded = LoadCuda();
    std::fprintf(stderr, "%s\n", std::string(loaded.message()).c_str());
    _exit(loaded.ok() ? 1 : 0);
  };
  EXPECT_EXIT(ask_and_load(), testing::ExitedWithCode(0),
              "this process has used libtorch without it; load CUDA first");
}

}  // namespace
}  // namespace lzero::load_order_test
