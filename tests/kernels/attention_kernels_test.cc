// The attention kernels by hand, and that threads change nothing.
#include "lzero/kernels/attention_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"
#include "tests/kernels/random_floats.h"

namespace lzero::attention_kernels_test {
namespace {

// One head of two channels, no rotation: cosines 1, sines 0.
TEST(AttentionKernelsTest, NumbersByHand) {
  const std::vector<float> ones(6, 1.0f), zeros(6, 0.0f);
  // Queries, keys and values of three tokens.
  const std::vector<float> qkv = {1, 0, 0, 0, 1, 2,  //
                                  0, 1, 2, 0, 3, 4,  //
                                  1, 1, 0, 2, 5, 6};
  std::vector<float> probabilities(6), out(6);
  AttentionTask task;
  task.samples = 1;
  task.tokens = 3;
  task.heads = 1;
  task.head_size = 2;
  task.window = 2;
  task.qkv = qkv.data();
  task.cosines = ones.data();
  task.sines = zeros.data();
  task.probabilities = probabilities.data();
  EXPECT_EQ(NumKeys(task), 2);
  RunAttention(task, out.data());
  // Token 0 sees itself; token 1 sees 0 and 1 with equal scores 0; token 2 sees 1 and 2 with equal
  // scores 2 / sqrt(2).
  const std::vector<float> expected = {1, 2, 2, 3, 4, 5};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(out[i], expected[i], 1e-6) << i;
  EXPECT_NEAR(probabilities[2], 0.5, 1e-6);
  EXPECT_NEAR(probabilities[5], 0.5, 1e-6);
  // Padding of two tokens: token 2 sees itself alone.
  const std::vector<int64_t> padding = {2};
  task.num_padding = padding.data();
  RunAttention(task, out.data());
  const std::vector<float> alone = {1, 2, 3, 4, 5, 6};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(out[i], alone[i], 1e-6) << i;
}

std::vector<float> RunBoth(int threads) {
  SetKernelThreads(threads);
  const std::vector<float> qkv = RandomFloats(31 * 9 * 3 * 40, 6);
  const std::vector<float> dout = RandomFloats(31 * 9 * 40, 7);
  const std::vector<float> cosines = RandomFloats(9 * 10, 8), sines = RandomFloats(9 * 10, 9);
  std::vector<float> probabilities(31 * 4 * 9 * 5), out(dout.size()), dqkv(qkv.size());
  AttentionTask task;
  task.samples = 31;
  task.tokens = 9;
  task.heads = 4;
  task.head_size = 10;
  task.window = 5;
  task.qkv = qkv.data();
  task.cosines = cosines.data();
  task.sines = sines.data();
  task.probabilities = probabilities.data();
  RunAttention(task, out.data());
  RunAttentionBackward(task, dout.data(), dqkv.data());
  out.insert(out.end(), dqkv.begin(), dqkv.end());
  return out;
}

TEST(AttentionKernelsTest, TheNumberOfThreadsChangesNothing) {
  const std::vector<float> one = RunBoth(1);
  EXPECT_EQ(RunBoth(2), one);
  EXPECT_EQ(RunBoth(3), one);
  SetKernelThreads(1);
}

}  // namespace
}  // namespace lzero::attention_kernels_test
