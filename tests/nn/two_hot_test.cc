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

const std::vector<ValueSupport> kSupports = {
    SqueezedSupport(3),   SqueezedSupport(5),    SqueezedSupport(17),     SqueezedSupport(21),
    SqueezedSupport(101), EvenSupport(-1, 1, 3), EvenSupport(0, 0.25, 2), EvenSupport(-3.5, 21, 8)};

TEST(TwoHotTest, LossAndGradientAreThoseOfPlainOperations) {
  torch::manual_seed(1);
  for (const ValueSupport& support : kSupports) {
    const at::Tensor values =
        at::cat({at::randn({40, 3}) * 20.0, torch::tensor({{1e6f, -1e6f, 0.0f}})});
    const auto loss = [&](const std::vector<at::Tensor>& in) {
      return TwoHotCrossEntropy(in[0], values.to(in[0].scalar_type()), support);
    };
    reference::ExpectGradientsOfPlainOperations(loss, {at::randn({41, 3, support.size}) * 3.0},
                                                std::to_string(support.size) + " atoms");
  }
}

TEST(TwoHotTest, DecodedValuesAreThoseOfPlainOperations) {
  torch::manual_seed(2);
  for (const ValueSupport& support : kSupports) {
    const at::Tensor logits = at::randn({50, support.size}) * 3.0, atoms = SupportAtoms(support);
    const at::Tensor expected =
        DecodeSupport(logits.to(at::kDouble), atoms.to(at::kDouble), support);
    EXPECT_LT(reference::Difference(DecodeSupport(logits, atoms, support), expected), 2e-6);
  }
}

TEST(TwoHotTest, WhatIsNotANumberReachesTheLoss) {
  at::Tensor logits = at::zeros({4, 21});
  logits[1][20] = std::nanf("");
  logits[2][3] = INFINITY;
  const at::Tensor values = torch::tensor({std::nanf(""), 0.0f, 0.0f, INFINITY});
  const at::Tensor losses = TwoHotCrossEntropy(logits, values, SqueezedSupport(21));
  for (int row = 0; row < 3; ++row) EXPECT_FALSE(std::isfinite(losses[row].item<float>())) << row;
  const PlainPathGuard guard;
  EXPECT_EQ(std::isfinite(TwoHotCrossEntropy(logits, values, SqueezedSupport(21))[3].item<float>()),
            std::isfinite(losses[3].item<float>()));
}

TEST(TwoHotTest, HasNoSecondDerivative) {
  const auto loss = [](const std::vector<at::Tensor>& in) {
    return TwoHotCrossEntropy(in[0], at::zeros({4}), SqueezedSupport(5));
  };
  reference::ExpectNoSecondDerivative(loss, {at::randn({4, 5})});
}

}  // namespace
}  // namespace lzero::two_hot_test
