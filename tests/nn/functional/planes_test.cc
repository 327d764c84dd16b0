// Convolutions of planes and what follows them against plain operations in double.
#include "lzero/nn/functional/planes.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::planes_test {
namespace {

using Inputs = std::vector<at::Tensor>;

struct Case {
  int64_t samples, in, height, width, out, stride;
  bool adds, relu;
};

reference::Function FunctionOf(const Case& each) {
  return [each](const Inputs& in) {
    return NormedConvolution(in[0], {in[1], in[2], in[3]}, each.stride, in[4], each.relu);
  };
}

Inputs MakeInputs(const Case& each) {
  const int64_t stride = each.stride, height = (each.height + stride - 1) / stride,
                width = (each.width + stride - 1) / stride;
  return {at::randn({each.samples, each.in, each.height, each.width}),
          at::randn({each.out, each.in, 3, 3}), at::randn({each.out}), at::randn({each.out}),
          each.adds ? at::randn({each.samples, each.out, height, width}) : at::Tensor()};
}

void ExpectRight(const Case& each) {
  reference::ExpectGradientsOfPlainOperations(
      FunctionOf(each), MakeInputs(each),
      absl::StrCat(each.samples, " of ", each.in, " x ", each.height, " x ", each.width, " -> ",
                   each.out, ", stride ", each.stride, each.adds ? ", addend" : "",
                   each.relu ? ", ReLU" : ""),
      /*tolerance=*/1e-5);
}

TEST(PlanesTest, ConvolutionsHaveTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const auto size = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    ExpectRight({size(40), size(40), size(12), size(12), size(40), size(2), random() % 2 == 0,
                 random() % 2 == 0});
  }
}

TEST(PlanesTest, TheSameThreadsGiveTheSameBits) {
  torch::manual_seed(3);
  const Case each = {60, 16, 10, 10, 20, 1, true, true};
  reference::ExpectBitsOfThreads(FunctionOf(each), MakeInputs(each));
}

TEST(PlanesTest, HalvesHaveTheGradientsOfPlainOperations) {
  torch::manual_seed(4);
  for (const auto& [height, width] : {std::pair{4, 6}, {5, 7}, {1, 1}}) {
    reference::ExpectGradientsOfPlainOperations(
        [](const Inputs& in) { return HalvedPlanes(in[0]); }, {at::randn({3, 17, height, width})},
        absl::StrCat(height, " x ", width));
  }
}

}  // namespace
}  // namespace lzero::planes_test
