// Convolutions of planes beside plain loops, for each instruction set.
#include "lzero/kernels/convolution/packed_convolution.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"
#include "tests/kernels/convolution/plain_convolution.h"
#include "tests/kernels/kernel_testing.h"

namespace lzero::packed_convolution_test {
namespace {

class PackedConvolutionTest : public InstructionSetTest {};

TEST_P(PackedConvolutionTest, GivesTheNumbersOfPlainLoops) {
  std::mt19937 random(1);
  for (const ConvolutionShape& shape : ConvolutionShapes()) {
    PackedConvolution convolution;
    for (const PlaneSizes& planes : PlaneSizesToTry(shape)) {
      const PlainConvolution plain(shape, planes, &random);
      convolution.Pack(shape, plain.weight.data());
      const auto in_size = static_cast<int64_t>(plain.x.size());
      const auto out_size = static_cast<int64_t>(plain.y.size());
      FloatsAtTheEnd x(in_size), y(out_size), scratch(convolution.scratch_size(planes));
      std::copy(plain.x.begin(), plain.x.end(), x.first());
      std::fill_n(y.first(), out_size, kNan);
      std::fill_n(scratch.first(), convolution.scratch_size(planes), kNan);
      convolution.Run(planes, x.first(), y.first(), scratch.first());
      EXPECT_LT(RelativeError(y.first(), plain.y, 1.0), 1e-5)
          << shape.in << " " << shape.out << " " << shape.stride << ", " << planes.height << " "
          << planes.width;
    }
  }
}

LZ_TEST_ALL_INSTRUCTION_SETS(PackedConvolutionTest);

}  // namespace
}  // namespace lzero::packed_convolution_test
