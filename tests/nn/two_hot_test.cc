// Two-hot losses and decoded values by kernels against plain operations, and numbers that are none.
#include <cmath>
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/support.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero::two_hot_test {
namespace {

TEST(TwoHotTest, LossAndGradientAreThoseOfPlainOperations) {
  torch::manual_seed(1);
  for (const int64_t atoms : {3, 5, 17, 21, 101}) {
    const at::Tensor values =
        at::cat({at::randn({40, 3}) * 20.0, torch::tensor({{1e6f, -1e6f, 0.0f}})});
    const auto loss = [&](const std::vector<at::Tensor>& in) {
      return TwoHotCrossEntropy(in[0], values.to(in[0].scalar_type()));
    };
    reference::ExpectGradientsOfPlainOperations(loss, {at::randn({41, 3, atoms}) * 3.0},
                                                std::to_string(atoms) + " atoms");
  }
}

TEST(TwoHotTest, DecodedValuesAreThoseOfPlainOperations) {
  torch::manual_seed(2);
  for (const int64_t atoms : {3, 21, 101}) {
    const at::Tensor logits = at::randn({50, atoms}) * 3.0;
    const at::Tensor expected =
        DecodeSupport(logits.to(at::kDouble), SupportAtoms(atoms).to(at::kDouble));
    EXPECT_LT(reference::Difference(DecodeSupport(logits, SupportAtoms(atoms)), expected), 2e-6);
  }
}

TEST(TwoHotTest, WhatIsNotANumberReachesTheLoss) {
  at::Tensor logits = at::zeros({4, 21});
  logits[1][20] = std::nanf("");
  logits[2][3] = INFINITY;
  const at::Tensor values = torch::tensor({std::nanf(""), 0.0f, 0.0f, INFINITY});
  const at::Tensor losses = TwoHotCrossEntropy(logits, values);
  for (int row = 0; row < 3; ++row) EXPECT_FALSE(std::isfinite(losses[row].item<float>())) << row;
  const PlainPathGuard guard;
  EXPECT_EQ(std::isfinite(TwoHotCrossEntropy(logits, values)[3].item<float>()),
            std::isfinite(losses[3].item<float>()));
}

TEST(TwoHotTest, HasNoSecondDerivative) {
  const auto loss = [](const std::vector<at::Tensor>& in) {
    return TwoHotCrossEntropy(in[0], at::zeros({4}));
  };
  reference::ExpectNoSecondDerivative(loss, {at::randn({4, 5})});
}

}  // namespace
}  // namespace lzero::two_hot_test
