// The attention kernels by hand, and that threads change nothing.
#include "lzero/nn/attention_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero {
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
  at::set_num_threads(threads);
  torch::manual_seed(6);
  const at::Tensor qkv = at::randn({31, 9, 3 * 40}), dout = at::randn({31, 9, 40});
  const at::Tensor cosines = at::randn({9, 10}), sines = at::randn({9, 10});
  const at::Tensor probabilities = at::zeros({31, 4, 9, 5});
  const at::Tensor out = at::empty({31, 9, 40}), dqkv = at::empty_like(qkv);
  AttentionTask task;
  task.samples = 31;
  task.tokens = 9;
  task.heads = 4;
  task.head_size = 10;
  task.window = 5;
  task.qkv = qkv.const_data_ptr<float>();
  task.cosines = cosines.const_data_ptr<float>();
  task.sines = sines.const_data_ptr<float>();
  task.probabilities = probabilities.mutable_data_ptr<float>();
  RunAttention(task, out.mutable_data_ptr<float>());
  RunAttentionBackward(task, dout.const_data_ptr<float>(), dqkv.mutable_data_ptr<float>());
  const at::Tensor all = at::cat({out.flatten(), dqkv.flatten()});
  return std::vector<float>(all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel());
}

TEST(AttentionKernelsTest, TheNumberOfThreadsChangesNothing) {
  const int before = at::get_num_threads();
  const std::vector<float> one = RunBoth(1);
  EXPECT_EQ(RunBoth(2), one);
  EXPECT_EQ(RunBoth(3), one);
  at::set_num_threads(before);
}

}  // namespace
}  // namespace lzero
