#include "lzero/nn/threads.h"

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"
#include "lzero/tensor/torch.h"

namespace lzero::threads_test {
namespace {

TEST(SetTensorThreads, SetsThoseOfKernelsAndKeepsLibtorchOnOne) {
  SetTensorThreads(3);
  EXPECT_EQ(KernelThreads(), 3);
  EXPECT_EQ(at::get_num_threads(), 1);
  SetTensorThreads(1);
  EXPECT_EQ(KernelThreads(), 1);
}

}  // namespace
}  // namespace lzero::threads_test
