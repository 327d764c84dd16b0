// Convolutions of planes beside plain loops in double precision, for each instruction set.
#include "lzero/kernels/convolution/packed_convolution.h"

#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::packed_convolution_test {
namespace {

// [out planes] of x [samples, height, width, in] and weight [out, in, 3, 3].
std::vector<double> Convolve(const ConvolutionShape& shape, const PlaneSizes& planes,
                             const float* x, const std::vector<float>& weight) {
  const PlaneSizes output = shape.OutputOf(planes);
  std::vector<double> y;
  for (int64_t cell = 0; cell < output.cells(); ++cell) {
    const int64_t column = cell % output.width * shape.stride, line = cell / output.width;
    const int64_t row = line % output.height * shape.stride, sample = line / output.height;
    for (int64_t o = 0; o < shape.out; ++o) {
      double sum = 0.0;
      for (int64_t k = 0; k < 9; ++k) {
        const int64_t down = row + k / 3 - 1, across = column + k % 3 - 1;
        if (down < 0 || down >= planes.height || across < 0 || across >= planes.width) continue;
        for (int64_t i = 0; i < shape.in; ++i) {
          const int64_t at = (sample * planes.height + down) * planes.width + across;
          sum += static_cast<double>(x[at * shape.in + i]) * weight[(o * shape.in + i) * 9 + k];
        }
      }
      y.push_back(sum);
    }
  }
  return y;
}

class PackedConvolutionTest : public InstructionSetTest {};

TEST_P(PackedConvolutionTest, GivesTheNumbersOfPlainLoops) {
  std::mt19937 random(1);
  const PlaneSizes sizes[] = {{1, 1, 1}, {3, 3, 3}, {2, 6, 7}, {5, 4, 8}, {2, 9, 5}, {30, 10, 10}};
  for (const ConvolutionShape& shape : std::vector<ConvolutionShape>{
           {16, 16, 1}, {17, 20, 1}, {32, 5, 1}, {3, 16, 1}, {1, 1, 1}, {16, 16, 2}, {3, 33, 2}}) {
    const std::vector<float> weight = RandomNumbers(&random, shape.weight_size(), -1.0f, 1.0f);
    PackedConvolution convolution(shape);
    convolution.Pack(weight);
    for (const PlaneSizes& planes : sizes) {
      FloatsAtTheEnd x(planes.cells() * shape.in), scratch(convolution.scratch_size());
      const int64_t out_size = shape.OutputOf(planes).cells() * shape.out;
      FloatsAtTheEnd y(out_size);
      for (int64_t i = 0; i < planes.cells() * shape.in; ++i) {
        x.first()[i] = RandomNumber(&random, -1.0f, 1.0f);
      }
      std::fill_n(y.first(), out_size, kNan);
      std::fill_n(scratch.first(), convolution.scratch_size(), kNan);
      convolution.Run(planes, x.first(), y.first(), scratch.first());
      EXPECT_LT(RelativeError(y.first(), Convolve(shape, planes, x.first(), weight), 1.0), 1e-5)
          << shape.in << " " << shape.out << " " << shape.stride << ", " << planes.height << " "
          << planes.width;
    }
  }
}

LZ_TEST_ALL_INSTRUCTION_SETS(PackedConvolutionTest);

}  // namespace
}  // namespace lzero::packed_convolution_test
