// The linear map against plain operations in double: results and all gradients.
#include "lzero/nn/functional/linear.h"

#include <random>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::linear_test {
namespace {

using Inputs = std::vector<at::Tensor>;

at::Tensor Plain(const Inputs& in) { return Linear(in[0], in[1], in[2]); }
at::Tensor WithResidual(const Inputs& in) { return LinearAdd(in[0], in[1], in[2], in[3]); }

Inputs MakeInputs(std::vector<int64_t> shape, int64_t out) {
  const int64_t in = shape.back();
  const at::Tensor x = at::randn(shape), weight = at::randn({out, in}), bias = at::randn({out});
  shape.back() = out;
  return {x, weight, bias, at::randn(shape)};
}

TEST(LinearTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  std::mt19937 random(2);
  for (int i = 0; i < 30; ++i) {
    const auto size = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % most); };
    const Inputs inputs = MakeInputs({size(9), size(40), size(130)}, size(140));
    const std::string what = absl::StrCat(inputs[0].size(0), " x ", inputs[0].size(1), " x ",
                                          inputs[0].size(2), " -> ", inputs[1].size(0));
    reference::ExpectGradientsOfPlainOperations(Plain, {inputs[0], inputs[1], inputs[2]}, what);
    reference::ExpectGradientsOfPlainOperations(WithResidual, inputs, what + " with residual");
  }
}

TEST(LinearTest, TakesTensorsThatAreNotContiguous) {
  torch::manual_seed(3);
  const Inputs inputs = MakeInputs({80, 12}, 8);
  const auto turned = [](const Inputs& in) {
    return LinearAdd(in[0].t(), in[1].t(), in[2].flip(0), in[3].t());
  };
  reference::ExpectGradientsOfPlainOperations(
      turned,
      {inputs[0].t().contiguous(), inputs[1].t().contiguous(), inputs[2],
       inputs[3].t().contiguous()},
      "transposed");
}

TEST(LinearTest, GradientsOnlyWhereTheyAreNeeded) {
  const Inputs inputs = MakeInputs({80, 12}, 8);
  const at::Tensor weight = inputs[1].clone().set_requires_grad(true);
  Linear(inputs[0], weight, inputs[2]).sum().backward();
  EXPECT_TRUE(at::allclose(weight.grad(), inputs[0].sum(0).expand({8, 12}), 1e-5, 1e-5));
  EXPECT_FALSE(inputs[0].grad().defined());
  EXPECT_FALSE(Linear(inputs[0], inputs[1], inputs[2]).requires_grad());
}

TEST(LinearTest, FewRowsAndOtherTypesTakeThePlainPath) {
  const Inputs inputs = MakeInputs({3, 12}, 8);
  EXPECT_TRUE(at::equal(Plain(inputs), at::linear(inputs[0], inputs[1], inputs[2])));
  const Inputs many = MakeInputs({80, 12}, 8);
  const PlainPathGuard guard;
  EXPECT_TRUE(at::equal(Plain(many), at::linear(many[0], many[1], many[2])));
  EXPECT_TRUE(at::equal(WithResidual(many), many[3] + at::linear(many[0], many[1], many[2])));
}

TEST(LinearTest, HasNoSecondDerivative) {
  reference::ExpectNoSecondDerivative(WithResidual, MakeInputs({80, 12}, 8));
}

}  // namespace
}  // namespace lzero::linear_test
