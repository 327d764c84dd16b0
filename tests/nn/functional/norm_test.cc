// LayerNorm and GELU against plain operations in double: results and all gradients.
#include "lzero/nn/functional/norm.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::norm_test {
namespace {

using Inputs = std::vector<at::Tensor>;

at::Tensor Norm(const Inputs& in) { return LayerNorm(in[0], in[1], in[2]); }
at::Tensor NormGelu(const Inputs& in) { return LayerNormGelu(in[0], in[1], in[2]); }
at::Tensor NoWeight(const Inputs& in) { return Normalize(in[0]); }
at::Tensor Activate(const Inputs& in) { return Gelu(in[0]); }

Inputs MakeInputs(int64_t rows, int64_t size) {
  return {at::randn({rows, size}) * 2.0 + 1.0, at::randn({size}), at::randn({size})};
}

TEST(NormTest, HasTheGradientsOfPlainOperations) {
  torch::manual_seed(1);
  for (const int64_t size : {8, 15, 16, 17, 33, 64, 100, 257}) {
    for (const int64_t rows : {1, 5, 130, 300}) {
      const Inputs inputs = MakeInputs(rows, size);
      const std::string what = absl::StrCat(rows, " x ", size);
      reference::ExpectGradientsOfPlainOperations(Norm, inputs, what);
      reference::ExpectGradientsOfPlainOperations(NormGelu, inputs, what + " with GELU");
      reference::ExpectGradientsOfPlainOperations(Activate, {inputs[0]}, what + " GELU");
      reference::ExpectGradientsOfPlainOperations(NoWeight, {inputs[0]}, what + " no weight");
    }
  }
}

TEST(NormTest, GeluFarFromZero) {
  const at::Tensor x = at::cat({at::linspace(-30.0, 30.0, 1001), torch::tensor({-1e10f, 1e10f})});
  reference::ExpectGradientsOfPlainOperations(Activate, {x.narrow(0, 0, 1001)}, "wide");
  const at::Tensor y = Gelu(x);
  EXPECT_EQ(y[1002].item<float>(), 1e10f);
  EXPECT_LT(y[1001].abs().item<float>(), 1e-20f);
}

TEST(NormTest, WhatIsNotANumberStaysSo) {
  at::Tensor x = at::ones({4, 20});
  x[1][3] = std::nanf("");
  x[2][19] = INFINITY;
  const Inputs inputs = {x, at::ones({20}), at::zeros({20})};
  for (const at::Tensor& y : {Norm(inputs), NormGelu(inputs)}) {
    EXPECT_TRUE(y[1].isnan().all().item<bool>());
    EXPECT_TRUE(y[2].isnan().any().item<bool>());
    EXPECT_FALSE(y[3].isnan().any().item<bool>());
  }
  EXPECT_TRUE(Gelu(x)[1][3].isnan().item<bool>());
}

TEST(NormTest, TakesTensorsThatAreNotContiguous) {
  torch::manual_seed(4);
  const auto every_second = [](const Inputs& in) {
    return LayerNormGelu(in[0].unflatten(0, {-1, 2}).select(1, 1), in[1], in[2]);
  };
  reference::ExpectGradientsOfPlainOperations(every_second, MakeInputs(40, 12), "strided");
}

TEST(NormTest, HasNoSecondDerivative) {
  reference::ExpectNoSecondDerivative(Norm, MakeInputs(4, 8));
  reference::ExpectNoSecondDerivative(NormGelu, MakeInputs(4, 8));
  reference::ExpectNoSecondDerivative(Activate, {at::randn({4, 8})});
}

}  // namespace
}  // namespace lzero::norm_test
