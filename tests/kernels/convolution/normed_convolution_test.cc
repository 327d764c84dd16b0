// A convolution, its norm and ReLU by hand for one channel; that threads change nothing. The
// numbers in general and the gradients: tests/nn/functional/planes_test.cc.
#include "lzero/kernels/convolution/normed_convolution.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/kernels/parallel.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::normed_convolution_test {
namespace {

// A weight that doubles each cell: 1, 2 become 2, 4, normed -1 and 1.
TEST(NormedConvolution, NumbersByHand) {
  const std::vector<float> x = {1, 2}, weight = {0, 0, 0, 0, 2, 0, 0, 0, 0};
  const std::vector<float> scale = {3}, bias = {0.5f};
  std::vector<float> y = {10, -20};  // the addend, too
  NormedConvolutionTask task;
  task.shape = {1, 1, 1};
  task.planes = {1, 1, 2};
  task.x = x.data();
  task.weight = weight.data();
  task.norm_weight = scale.data();
  task.norm_bias = bias.data();
  task.addend = y.data();
  task.relu = true;
  RunNormedConvolution(task, y.data());
  EXPECT_NEAR(y[0], 10 - 3 + 0.5, 1e-4);
  EXPECT_EQ(y[1], 0.0f);
}

// Everything that both passes write, for 50 samples.
std::vector<float> RunBoth(int threads) {
  constexpr int64_t kSamples = 50, kIn = 16, kOut = 20;
  SetKernelThreads(threads);
  std::mt19937 random(1);
  NormedConvolutionTask task;
  task.shape = {kIn, kOut, 1};
  task.planes = {kSamples, 7, 9};
  const int64_t in_size = task.planes.cells() * kIn, out_size = task.planes.cells() * kOut;
  const std::vector<float> x = RandomNumbers(&random, in_size, -1, 1);
  const std::vector<float> weight = RandomNumbers(&random, task.shape.weight_size(), -1, 1);
  const std::vector<float> scale = RandomNumbers(&random, kOut, -1, 1);
  const std::vector<float> dy = RandomNumbers(&random, out_size, -1, 1);
  std::vector<float> y(out_size), units(out_size), moments(2 * kSamples);
  std::vector<float> dx(in_size), dweight(weight.size()), dscale(kOut), dbias(kOut);
  task.x = x.data();
  task.weight = weight.data();
  task.norm_weight = task.norm_bias = scale.data();
  task.relu = true;
  task.units = units.data();
  task.moments = moments.data();
  RunNormedConvolution(task, y.data());
  RunNormedConvolutionBackward(task, y.data(), dy.data(),
                               {dx.data(), nullptr, dweight.data(), dscale.data(), dbias.data()});
  SetKernelThreads(1);
  y.insert(y.end(), dx.begin(), dx.end());
  for (const auto* sums : {&dweight, &dscale, &dbias})
    y.insert(y.end(), sums->begin(), sums->end());
  return y;
}

TEST(NormedConvolution, TheNumberOfThreadsChangesNoBit) {
  const std::vector<float> one = RunBoth(1);
  for (const int threads : {2, 3}) {
    const std::vector<float> more = RunBoth(threads);
    EXPECT_TRUE(SameBits(more.data(), one.data(), one.size()));
  }
}

}  // namespace
}  // namespace lzero::normed_convolution_test
