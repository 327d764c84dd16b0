// Kernels of norms by hand; that threads and parts of rows change nothing.
#include "lzero/nn/norm_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

TEST(NormKernelsTest, NumbersByHand) {
  const std::vector<float> x = {1.0f, 2.0f, 3.0f}, scale = {2.0f, 3.0f, 4.0f};
  const std::vector<float> shift = {0.5f, -0.5f, 1.0f};
  std::vector<float> mean(1), inverse(1), y(3);
  NormTask task;
  task.rows = 1;
  task.size = 3;
  task.x = x.data();
  task.scale = scale.data();
  task.shift = shift.data();
  task.means = mean.data();
  task.inverse_spreads = inverse.data();
  RunNorm(task, y.data());
  const double unit = 1.0 / std::sqrt(2.0 / 3.0 + 1e-5);
  EXPECT_NEAR(mean[0], 2.0, 1e-6);
  EXPECT_NEAR(inverse[0], unit, 1e-6);
  EXPECT_NEAR(y[0], 0.5 - 2 * unit, 1e-6);
  EXPECT_NEAR(y[1], -0.5, 1e-6);
  EXPECT_NEAR(y[2], 1 + 4 * unit, 1e-6);
}

// A norm with GELU of 700 rows of 33, everything that its passes write.
std::vector<float> RunBoth(int threads) {
  at::set_num_threads(threads);
  torch::manual_seed(5);
  const at::Tensor x = at::randn({700, 33}), scale = at::randn({33}), shift = at::randn({33});
  const at::Tensor dy = at::randn({700, 33}), moments = at::empty({2, 700});
  const at::Tensor y = at::empty_like(x), dx = at::empty_like(x), dscale = at::empty({2, 33});
  NormTask task;
  task.rows = 700;
  task.size = 33;
  task.x = x.const_data_ptr<float>();
  task.scale = scale.const_data_ptr<float>();
  task.shift = shift.const_data_ptr<float>();
  task.gelu = true;
  task.means = moments.mutable_data_ptr<float>();
  task.inverse_spreads = task.means + 700;
  RunNorm(task, y.mutable_data_ptr<float>());
  const at::Tensor again = at::empty_like(x);
  task.again = again.mutable_data_ptr<float>();
  float* gradients = dscale.mutable_data_ptr<float>();
  RunNormBackward(task, dy.const_data_ptr<float>(), dx.mutable_data_ptr<float>(), gradients,
                  gradients + 33);
  EXPECT_LT((again - y).abs().max().item<float>(), 1e-6f);
  const at::Tensor all = at::cat({y.flatten(), dx.flatten(), dscale.flatten()});
  return std::vector<float>(all.const_data_ptr<float>(), all.const_data_ptr<float>() + all.numel());
}

TEST(NormKernelsTest, TheNumberOfThreadsChangesNothing) {
  const int before = at::get_num_threads();
  const std::vector<float> one = RunBoth(1);
  EXPECT_EQ(RunBoth(2), one);
  EXPECT_EQ(RunBoth(3), one);
  at::set_num_threads(before);
}

TEST(NormKernelsTest, GeluBackwardGivesItsOutputOnceMoreAndMayWriteOverItsInput) {
  const at::Tensor x = at::randn({1001}), dy = at::randn({1001});
  at::Tensor y = at::empty_like(x), again = at::empty_like(x), dx = at::empty_like(x);
  RunGelu(1001, x.const_data_ptr<float>(), y.mutable_data_ptr<float>());
  RunGeluBackward(1001, x.const_data_ptr<float>(), dy.const_data_ptr<float>(),
                  dx.mutable_data_ptr<float>(), again.mutable_data_ptr<float>());
  EXPECT_TRUE(at::equal(again, y));
  at::Tensor in_place = dy.clone();
  RunGeluBackward(1001, x.const_data_ptr<float>(), in_place.const_data_ptr<float>(),
                  in_place.mutable_data_ptr<float>(), nullptr);
  EXPECT_TRUE(at::equal(in_place, dx));
}

}  // namespace
}  // namespace lzero
