// One unit of everything by hand.
#include "lzero/kernels/perceptron_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::perceptron_kernels_test {
namespace {

double Gelu(double x) {
  return 0.5 * x * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (x + 0.044715 * x * x * x)));
}

TEST(PerceptronKernelsTest, NumbersByHand) {
  const std::vector<float> x = {1.0f, -2.0f}, weight1 = {2.0f}, bias1 = {0.5f};
  const std::vector<float> weight2 = {3.0f}, bias2 = {-1.0f}, dy = {1.0f, 10.0f};
  std::vector<float> units(2), moments(8), y(2), dx(2), dweight1(1), dbias1(1), dweight2(1),
      dbias2(1);
  PerceptronTask task;
  task.rows = 2;
  task.in = task.hidden = task.out = 1;
  task.residual = true;
  task.x = x.data();
  task.weight1 = weight1.data();
  task.bias1 = bias1.data();
  task.weight2 = weight2.data();
  task.bias2 = bias2.data();
  task.units = units.data();
  task.moments = moments.data();
  RunPerceptron(task, y.data());
  EXPECT_EQ(units, std::vector<float>({2.5f, -3.5f}));
  EXPECT_NEAR(y[0], 1.0 + 3.0 * Gelu(2.5) - 1.0, 1e-6);
  EXPECT_NEAR(y[1], -2.0 + 3.0 * Gelu(-3.5) - 1.0, 1e-6);

  PerceptronGradients gradients;
  gradients.dx = dx.data();
  gradients.weight1 = dweight1.data();
  gradients.bias1 = dbias1.data();
  gradients.weight2 = dweight2.data();
  gradients.bias2 = dbias2.data();
  RunPerceptronBackward(task, dy.data(), gradients);
  const auto slope = [](double at) { return (Gelu(at + 1e-5) - Gelu(at - 1e-5)) / 2e-5; };
  EXPECT_NEAR(dx[0], 1.0 + 3.0 * slope(2.5) * 2.0, 1e-5);
  EXPECT_NEAR(dx[1], 10.0 * (1.0 + 3.0 * slope(-3.5) * 2.0), 1e-4);
  EXPECT_NEAR(dweight2[0], Gelu(2.5) + 10.0 * Gelu(-3.5), 1e-5);
  EXPECT_EQ(dbias2[0], 11.0f);
  EXPECT_NEAR(dbias1[0], 3.0 * (slope(2.5) + 10.0 * slope(-3.5)), 1e-4);
  EXPECT_NEAR(dweight1[0], 3.0 * (slope(2.5) - 20.0 * slope(-3.5)), 1e-4);
}

}  // namespace
}  // namespace lzero::perceptron_kernels_test
