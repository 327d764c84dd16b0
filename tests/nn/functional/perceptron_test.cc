// A hidden layer and what is around it against plain operations in double.
#include "lzero/nn/functional/perceptron.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::perceptron_test {
namespace {

using Inputs = std::vector<at::Tensor>;

struct Case {
  int64_t rows, in, hidden, out;
  bool norm1, norm2, residual;
};

reference::Function FunctionOf(const Case& each) {
  return [each](const Inputs& in) {
    return Perceptron(in[0], {in[1], in[2], in[3], in[4], in[5], in[6], in[7], in[8]},
                      each.residual);
  };
}

Inputs MakeInputs(const Case& each) {
  const auto parameter = [](bool is_there, int64_t size) {
    return is_there ? at::randn({size}) : at::Tensor();
  };
  return {at::randn({each.rows, each.in}),
          parameter(each.norm1, each.in),
          parameter(each.norm1, each.in),
          at::randn({each.hidden, each.in}),
          at::randn({each.hidden}),
          parameter(each.norm2, each.hidden),
          parameter(each.norm2, each.hidden),
          at::randn({each.out, each.hidden}),
          at::randn({each.out})};
}

void ExpectRight(const Case& each) {
  reference::ExpectGradientsOfPlainOperations(
      FunctionOf(each), MakeInputs(each),
      absl::StrCat(each.rows, " x ", each.in, " -> ", each.hidden, " -> ", each.out,
                   each.norm1 ? ", norm 1" : "", each.norm2 ? ", norm 2" : "",
                   each.residual ? ", residual" : ""));
}

TEST(PerceptronTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  std::mt19937 random(2);
  for (int i = 0; i < 40; ++i) {
    const auto size = [&](int64_t most) { return 3 + static_cast<int64_t>(random() % most); };
    Case each = {60 + size(300),    size(60),          size(100),        size(60),
                 random() % 2 == 0, random() % 2 == 0, random() % 2 == 0};
    if (each.residual) each.out = each.in;
    ExpectRight(each);
  }
}

TEST(PerceptronTest, SizesOfTheSmallNet) {
  torch::manual_seed(3);
  ExpectRight({200, 64, 256, 64, true, false, true});
  ExpectRight({200, 64, 256, 101, true, true, false});
  ExpectRight({200, 64, 256, 2, true, true, false});
  ExpectRight({200, 4, 128, 64, false, true, false});
}

TEST(PerceptronTest, LayersThatAreTooLargeOrRowsTooFewRunOneByOne) {
  torch::manual_seed(4);
  ExpectRight({80, 300, 500, 20, true, true, false});
  ExpectRight({3, 12, 20, 12, true, false, true});
}

TEST(PerceptronTest, TheSameThreadsGiveTheSameBits) {
  torch::manual_seed(5);
  const Case each = {700, 20, 33, 20, true, true, true};
  reference::ExpectBitsOfThreads(FunctionOf(each), MakeInputs(each));
}

TEST(PerceptronTest, TakesWeightsThatAreNotContiguous) {
  torch::manual_seed(7);
  const Case each = {200, 20, 33, 20, true, true, true};
  std::vector<at::Tensor> inputs = MakeInputs(each);
  const at::Tensor expected = FunctionOf(each)(inputs);
  for (at::Tensor& input : inputs) {
    input = at::stack({input, input + 1.0}, -1).select(-1, 0);
    ASSERT_FALSE(input.is_contiguous());
  }
  EXPECT_TRUE(at::equal(FunctionOf(each)(inputs), expected)) << "without gradients";
  for (at::Tensor& input : inputs) input.set_requires_grad(true);
  EXPECT_TRUE(at::equal(FunctionOf(each)(inputs), expected)) << "with gradients";
}

TEST(PerceptronTest, TheGraphCanBeRetained) {
  torch::manual_seed(6);
  const Case each = {200, 20, 33, 20, true, true, true};
  reference::ExpectTheGraphCanBeRetained(FunctionOf(each), MakeInputs(each));
}

TEST(PerceptronTest, HasNoSecondDerivative) {
  const Case each = {80, 8, 12, 8, true, true, true};
  reference::ExpectNoSecondDerivative(FunctionOf(each), MakeInputs(each));
}

}  // namespace
}  // namespace lzero::perceptron_test
