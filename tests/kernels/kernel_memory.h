// Arrays of exactly their size, for tests that let the sanitizers see what a kernel reads and
// writes beside them.
#ifndef LZERO_TESTS_KERNELS_KERNEL_MEMORY_H_
#define LZERO_TESTS_KERNELS_KERNEL_MEMORY_H_

#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"

namespace lzero {

using Floats = std::vector<float>;

// The parameter is the number of threads.
class KernelMemoryTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetKernelThreads(GetParam()); }
  void TearDown() override { SetKernelThreads(before_); }

  int64_t Size(int64_t most) { return 1 + static_cast<int64_t>(random_() % most); }
  Floats Random(int64_t count) {
    Floats values(static_cast<size_t>(count));
    for (float& value : values) value = std::normal_distribution<float>()(random_);
    return values;
  }
  static Floats Empty(int64_t count) { return Floats(static_cast<size_t>(count), kUnset); }
  static void ExpectAllSet(const Floats& values) {
    for (const float value : values) ASSERT_TRUE(std::isfinite(value) && value != kUnset);
  }

  static constexpr float kUnset = -1e30f;
  std::mt19937 random_{7};

 private:
  int before_ = KernelThreads();
};

}  // namespace lzero

#endif  // LZERO_TESTS_KERNELS_KERNEL_MEMORY_H_
