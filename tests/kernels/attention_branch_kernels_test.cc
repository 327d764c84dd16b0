// The attention half of a block by hand.
#include "lzero/kernels/attention_branch_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::attention_branch_kernels_test {
namespace {

// One token sees itself alone: it takes its own value. E = 2: the norm gives -1 and 1 (nearly).
TEST(AttentionBranchKernelsTest, OneTokenByHand) {
  const std::vector<float> x = {1.0f, 3.0f}, norm_weight = {1.0f, 2.0f}, norm_bias = {0.5f, 0.0f};
  // Queries and keys are anything; values are the sum and the difference of the normal row.
  const std::vector<float> weight_in = {1, 2, 3, 4, 5, 6, 7, 8, 1, 1, 1, -1};
  const std::vector<float> bias_in = {0, 0, 0, 0, 10, 20};
  const std::vector<float> weight_out = {1, 0, 1, 1}, bias_out = {0.25f, 0.5f};
  const std::vector<float> cosines = {1, 1}, sines = {0, 0};
  std::vector<float> moments(2), qkv(6), mixed(2), probabilities(1), y(2);
  AttentionBranchTask task;
  task.attention.samples = task.attention.tokens = task.attention.heads = 1;
  task.attention.head_size = 2;
  task.attention.window = 3;
  task.attention.cosines = cosines.data();
  task.attention.sines = sines.data();
  task.x = x.data();
  task.norm_weight = norm_weight.data();
  task.norm_bias = norm_bias.data();
  task.weight_in = weight_in.data();
  task.bias_in = bias_in.data();
  task.weight_out = weight_out.data();
  task.bias_out = bias_out.data();
  task.moments = moments.data();
  task.qkv = qkv.data();
  task.mixed = mixed.data();
  task.probabilities = probabilities.data();
  RunAttentionBranch(task, y.data());
  const double unit = 1.0 / std::sqrt(1.0 + 1e-5);
  const double first = -unit + 0.5, second = 2.0 * unit;
  EXPECT_NEAR(mixed[0], first + second + 10.0, 1e-5);
  EXPECT_NEAR(mixed[1], first - second + 20.0, 1e-5);
  EXPECT_NEAR(y[0], 1.0 + mixed[0] + 0.25, 1e-5);
  EXPECT_NEAR(y[1], 3.0 + mixed[0] + mixed[1] + 0.5, 1e-5);
  EXPECT_EQ(probabilities[0], 1.0f);

  // The gradient of y[0]: of the projection's first row what it multiplies, of its bias 1.
  const std::vector<float> dy = {1.0f, 0.0f};
  std::vector<float> dx(2), dnorm_weight(2), dnorm_bias(2), dweight_in(12), dbias_in(6),
      dweight_out(4);
  std::vector<float> dbias_out(2);
  RunAttentionBranchBackward(task, dy.data(),
                             {dx.data(), dnorm_weight.data(), dnorm_bias.data(), dweight_in.data(),
                              dbias_in.data(), dweight_out.data(), dbias_out.data()});
  EXPECT_EQ(dweight_out, std::vector<float>({mixed[0], mixed[1], 0.0f, 0.0f}));
  EXPECT_EQ(dbias_out, std::vector<float>({1.0f, 0.0f}));
  // One key has no choice: nothing reaches queries and keys, 1 the first value.
  EXPECT_EQ(dbias_in, std::vector<float>({0, 0, 0, 0, 1, 0}));
  EXPECT_NEAR(dweight_in[8], first, 1e-5);
  EXPECT_NEAR(dweight_in[9], second, 1e-5);
  EXPECT_EQ(dnorm_bias, std::vector<float>({1.0f, 1.0f}));
  EXPECT_NEAR(dnorm_weight[0], -unit, 1e-5);
  EXPECT_NEAR(dnorm_weight[1], unit, 1e-5);
  // Both entries of x move y[0] as the residual does, or not at all: two numbers have a fixed norm.
  EXPECT_NEAR(dx[0], 1.0, 1e-4);
  EXPECT_NEAR(dx[1], 0.0, 1e-4);
}

}  // namespace
}  // namespace lzero::attention_branch_kernels_test
