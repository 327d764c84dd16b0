// Sums over blocks by hand, with more and fewer threads than parts.
#include "lzero/kernels/gradient_sums.h"

#include <atomic>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"

namespace lzero::gradient_sums_test {
namespace {

class GradientSumsTest : public testing::TestWithParam<int> {
 protected:
  void SetUp() override { SetKernelThreads(GetParam()); }
  void TearDown() override { SetKernelThreads(before_); }

 private:
  int before_ = KernelThreads();
};

TEST_P(GradientSumsTest, EveryBlockIsAddedOnce) {
  for (const int64_t num_blocks : {1, 2, 3, 7, 40}) {
    // Twice, so that memory of the first call is used again.
    for (int call = 0; call < 2; ++call) {
      std::vector<float> first(3, 99.0f), second(1, 99.0f);
      std::vector<std::atomic<int>> calls(static_cast<size_t>(num_blocks));
      const GradientPlace places[] = {{first.data(), 3}, {nullptr, 5}, {second.data(), 1}};
      SumOverBlocks(places, num_blocks, [&](float* const* sums, int64_t block) {
        ++calls[static_cast<size_t>(block)];
        EXPECT_EQ(sums[1], nullptr);
        for (int i = 0; i < 3; ++i) sums[0][i] += static_cast<float>((i + 1) * (block + 1));
        sums[2][0] += 1.0f;
      });
      const auto total = static_cast<float>(num_blocks * (num_blocks + 1) / 2);
      EXPECT_EQ(first, std::vector<float>({total, 2 * total, 3 * total})) << num_blocks;
      EXPECT_EQ(second[0], static_cast<float>(num_blocks));
      for (const std::atomic<int>& count : calls) EXPECT_EQ(count, 1) << num_blocks;
    }
  }
}

// Small numbers are lost beside a large one: which ones shows the order of the additions.
TEST_P(GradientSumsTest, PartsAreAddedInOrder) {
  float sum = 0.0f;
  const GradientPlace places[] = {{&sum, 1}};
  SumOverBlocks(places, 8, [&](float* const* sums, int64_t block) {
    sums[0][0] += block == 0 ? 1e8f : 3.0f;  // the next float is 8 away
  });
  // Four parts of two blocks. The 3 beside the large number is lost, 6 of each other part are
  // rounded to a multiple of 8; one part would lose them all.
  EXPECT_EQ(sum, 1e8f + 24.0f);
}

INSTANTIATE_TEST_SUITE_P(Threads, GradientSumsTest, testing::Values(1, 2, 3, 7));

}  // namespace
}  // namespace lzero::gradient_sums_test
