// Kernels of norms by hand; that threads and parts of rows change nothing.
#include "lzero/kernels/norm_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"
#include "tests/kernels/random_floats.h"

namespace lzero::norm_kernels_test {
namespace {

TEST(NormKernelsTest, NumbersByHand) {
  const std::vector<float> x = {1.0f, 2.0f, 3.0f}, weight = {2.0f, 3.0f, 4.0f};
  const std::vector<float> bias = {0.5f, -0.5f, 1.0f};
  std::vector<float> mean(1), inverse(1), y(3);
  NormTask task;
  task.rows = 1;
  task.size = 3;
  task.x = x.data();
  task.weight = weight.data();
  task.bias = bias.data();
  task.means = mean.data();
  task.inverse_deviations = inverse.data();
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
  SetKernelThreads(threads);
  const std::vector<float> x = RandomFloats(700 * 33, 5), dy = RandomFloats(700 * 33, 6);
  const std::vector<float> weight = RandomFloats(33, 7), bias = RandomFloats(33, 8);
  std::vector<float> moments(2 * 700), y(x.size()), again(x.size()), dx(x.size()), gradients(66);
  NormTask task;
  task.rows = 700;
  task.size = 33;
  task.x = x.data();
  task.weight = weight.data();
  task.bias = bias.data();
  task.gelu = true;
  task.means = moments.data();
  task.inverse_deviations = task.means + 700;
  RunNorm(task, y.data());
  task.again = again.data();
  RunNormBackward(task, dy.data(), dx.data(), gradients.data(), gradients.data() + 33);
  for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(again[i], y[i], 1e-6f);
  y.insert(y.end(), dx.begin(), dx.end());
  y.insert(y.end(), gradients.begin(), gradients.end());
  return y;
}

TEST(NormKernelsTest, TheNumberOfThreadsChangesNothing) {
  const std::vector<float> one = RunBoth(1);
  EXPECT_EQ(RunBoth(2), one);
  EXPECT_EQ(RunBoth(3), one);
  SetKernelThreads(1);
}

TEST(NormKernelsTest, GeluBackwardGivesItsOutputOnceMoreAndMayWriteOverItsInput) {
  const std::vector<float> x = RandomFloats(1001, 1), dy = RandomFloats(1001, 2);
  std::vector<float> y(1001), again(1001), dx(1001), in_place = dy;
  RunGelu(1001, x.data(), y.data());
  RunGeluBackward(1001, x.data(), dy.data(), dx.data(), again.data());
  EXPECT_EQ(again, y);
  RunGeluBackward(1001, x.data(), in_place.data(), in_place.data(), nullptr);
  EXPECT_EQ(in_place, dx);
}

}  // namespace
}  // namespace lzero::norm_kernels_test
