// Gradients of convolutions beside plain loops, for each instruction set.
#include "lzero/kernels/convolution/convolution_gradients.h"

#include <algorithm>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/convolution/plain_convolution.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::convolution_gradients_test {
namespace {

class ConvolutionGradientsTest : public InstructionSetTest {};

TEST_P(ConvolutionGradientsTest, GiveTheNumbersOfPlainLoops) {
  std::mt19937 random(1);
  for (const ConvolutionShape& shape : ConvolutionShapes()) {
    ConvolutionGradients gradients;
    for (const PlaneSizes& planes : PlaneSizesToTry(shape)) {
      const PlainConvolution plain(shape, planes, &random);
      gradients.Pack(shape, plain.weight.data());
      const auto in_size = static_cast<int64_t>(plain.x.size());
      const auto out_size = static_cast<int64_t>(plain.y.size());
      FloatsAtTheEnd x(in_size), dx(in_size), dy(out_size), scratch(gradients.scratch_size(planes));
      FloatsAtTheEnd sums(gradients.sums_size()), dweight(shape.weight_size());
      std::copy(plain.x.begin(), plain.x.end(), x.first());
      std::copy(plain.dy.begin(), plain.dy.end(), dy.first());
      std::fill_n(dx.first(), in_size, kNan);
      std::fill_n(dweight.first(), shape.weight_size(), kNan);
      std::fill_n(scratch.first(), gradients.scratch_size(planes), kNan);
      gradients.RunInputs(planes, dy.first(), dx.first(), scratch.first());
      gradients.AddWeights(planes, x.first(), dy.first(), sums.first(), scratch.first());
      gradients.FinishWeights(sums.first(), dweight.first());
      EXPECT_LT(RelativeError(dx.first(), plain.dx, 1.0), 1e-5) << shape.in << " " << shape.out;
      EXPECT_LT(RelativeError(dweight.first(), plain.dweight, 1.0), 1e-5)
          << shape.in << " " << shape.out << " " << shape.stride << ", " << planes.height << " "
          << planes.width;
    }
  }
}

LZ_TEST_ALL_INSTRUCTION_SETS(ConvolutionGradientsTest);

}  // namespace
}  // namespace lzero::convolution_gradients_test
