// Norms of planes and halves of them beside plain loops, for each instruction set; gradients beside
// differences of the same loops.
#include "lzero/kernels/convolution/plane_kernels.h"

#include <cmath>
#include <functional>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::plane_kernels_test {
namespace {

using Numbers = std::vector<double>;

struct Inputs {
  Numbers x, weight, bias, addend;
};

Numbers Wide(const std::vector<float>& numbers) { return {numbers.begin(), numbers.end()}; }

Numbers Norm(const Inputs& in, size_t samples, size_t channels, bool relu) {
  const size_t size = in.x.size() / samples;
  Numbers y;
  for (size_t at = 0; at < in.x.size(); at += size) {
    double mean = 0.0, variance = 0.0;
    for (size_t i = 0; i < size; ++i) mean += in.x[at + i] / static_cast<double>(size);
    for (size_t i = 0; i < size; ++i) {
      variance += (in.x[at + i] - mean) * (in.x[at + i] - mean) / static_cast<double>(size);
    }
    for (size_t i = 0; i < size; ++i) {
      double value = (in.x[at + i] - mean) / std::sqrt(variance + 1e-5);
      value = value * in.weight[i % channels] + in.bias[i % channels];
      if (!in.addend.empty()) value += in.addend[at + i];
      y.push_back(relu ? std::max(0.0, value) : value);
    }
  }
  return y;
}

// d sum(y dy) / d numbers, by differences.
Numbers Slopes(Numbers Inputs::*numbers, const Inputs& inputs, const Numbers& dy,
               const std::function<Numbers(const Inputs&)>& function) {
  constexpr double kStep = 1e-5;
  Numbers slopes;
  for (size_t i = 0; i < (inputs.*numbers).size(); ++i) {
    Inputs more = inputs, less = inputs;
    (more.*numbers)[i] += kStep;
    (less.*numbers)[i] -= kStep;
    const Numbers high = function(more), low = function(less);
    double slope = 0.0;
    for (size_t j = 0; j < dy.size(); ++j) slope += dy[j] * (high[j] - low[j]) / (2.0 * kStep);
    slopes.push_back(slope);
  }
  return slopes;
}

class PlaneKernelsTest : public InstructionSetTest {};

void TestNorm(int64_t samples, int64_t cells, int64_t channels, bool adds, bool relu) {
  std::mt19937 random(1);
  const int64_t size = samples * cells * channels;
  const std::vector<float> x = RandomNumbers(&random, size, -1.0f, 3.0f);
  const std::vector<float> weight = RandomNumbers(&random, channels, -1.0f, 1.0f);
  const std::vector<float> bias = RandomNumbers(&random, channels, -1.0f, 1.0f);
  const std::vector<float> addend = RandomNumbers(&random, adds ? size : 0, -1.0f, 1.0f);
  const std::vector<float> dy = RandomNumbers(&random, size, -1.0f, 1.0f);
  const Inputs inputs = {Wide(x), Wide(weight), Wide(bias), Wide(addend)};
  const auto norm = [&](const Inputs& in) {
    return Norm(in, static_cast<size_t>(samples), static_cast<size_t>(channels), relu);
  };
  FloatsAtTheEnd y(size), dx(size), daddend(size), moments(2 * samples);
  std::vector<float> dweight(weight.size()), dbias(weight.size());
  PlaneNormTask task;
  task.samples = samples;
  task.cells = cells;
  task.channels = channels;
  task.x = x.data();
  task.weight = weight.data();
  task.bias = bias.data();
  task.addend = adds ? addend.data() : nullptr;
  task.relu = relu;
  task.means = moments.first();
  task.inverse_deviations = moments.first() + samples;
  NormPlanes(task, y.first());
  EXPECT_LT(RelativeError(y.first(), norm(inputs), 1.0), 1e-5);
  NormPlanesBackward(task, {y.first(), dy.data(), dx.first(), adds ? daddend.first() : nullptr,
                            dweight.data(), dbias.data()});
  const Numbers wide_dy = Wide(dy);
  EXPECT_LT(RelativeError(dx.first(), Slopes(&Inputs::x, inputs, wide_dy, norm), 1.0), 1e-4);
  EXPECT_LT(RelativeError(dweight.data(), Slopes(&Inputs::weight, inputs, wide_dy, norm), 1.0),
            1e-4);
  EXPECT_LT(RelativeError(dbias.data(), Slopes(&Inputs::bias, inputs, wide_dy, norm), 1.0), 1e-4);
  if (!adds) return;
  EXPECT_LT(RelativeError(daddend.first(), Slopes(&Inputs::addend, inputs, wide_dy, norm), 1.0),
            1e-4);
}

TEST_P(PlaneKernelsTest, NormsAndTheirGradientsAreThoseOfPlainLoops) {
  for (const bool adds : {false, true}) {
    for (const bool relu : {false, true}) {
      TestNorm(2, 4, 16, adds, relu);
      TestNorm(1, 3, 21, adds, relu);
      TestNorm(3, 1, 5, adds, relu);
    }
  }
}

TEST_P(PlaneKernelsTest, NanStaysNan) {
  std::vector<float> x = {1.0f, kNan, 2.0f}, weight = {1.0f}, bias = {0.0f}, y(3);
  PlaneNormTask task;
  task.samples = task.channels = 1;
  task.cells = 3;
  task.x = x.data();
  task.weight = weight.data();
  task.bias = bias.data();
  task.relu = true;
  NormPlanes(task, y.data());
  for (const float value : y) EXPECT_TRUE(std::isnan(value));
}

// By hand: 3x3 cells of 2 channels; the last row and column are halves of their own.
TEST_P(PlaneKernelsTest, HalvesAreMeansOfTheCellsThatThereAre) {
  std::vector<float> x(18);
  for (size_t i = 0; i < 18; ++i) x[i] = static_cast<float>(i % 2 == 0 ? i / 2 : 10 * (i / 2));
  FloatsAtTheEnd y(8), dx(18);
  HalvePlanes({1, 3, 3}, 2, x.data(), y.first());
  EXPECT_EQ(std::vector<float>(y.first(), y.first() + 8),
            std::vector<float>({2, 20, 3.5f, 35, 6.5f, 65, 8, 80}));
  const std::vector<float> dy = {4, 40, 2, 20, 6, 60, 1, 10};
  HalvePlanesBackward({1, 3, 3}, 2, dy.data(), dx.first());
  EXPECT_EQ(std::vector<float>(dx.first(), dx.first() + 18),
            std::vector<float>({1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 1, 10, 3, 30, 3, 30, 1, 10}));
}

TEST_P(PlaneKernelsTest, BytesBecomeFractionsWithChannelsLast) {
  std::mt19937 random(3);
  for (const int64_t channels : {1, 2, 3, 4, 12}) {
    const PlaneSizes planes = {2, 5, 7};
    const int64_t cells = planes.height * planes.width, size = 2 * cells * channels;
    std::vector<uint8_t> bytes(static_cast<size_t>(size));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random());
    FloatsAtTheEnd y(size);
    BytesToPlanes(planes, channels, bytes.data(), y.first());
    for (int64_t i = 0; i < size; ++i) {
      const int64_t sample = i / (cells * channels), cell = i / channels % cells;
      const uint8_t byte = bytes[(sample * channels + i % channels) * cells + cell];
      ASSERT_EQ(y.first()[i], static_cast<float>(byte) / 255.0f) << channels << " " << i;
    }
  }
}

LZ_TEST_ALL_INSTRUCTION_SETS(PlaneKernelsTest);

}  // namespace
}  // namespace lzero::plane_kernels_test
