// Two-hot losses and means of the support by hand, their gradients, and numbers that are none.
#include "lzero/nn/support_kernels.h"

#include <cmath>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/nn/fused_path.h"
#include "lzero/nn/value_transform.h"
#include "lzero/tensor/torch.h"
#include "tests/nn/gradients.h"

namespace lzero {
namespace {

TEST(SupportKernelsTest, NumbersByHand) {
  // Atoms -1, 0, 1; h(0.5) = 0.225245 lies between 0 and 1.
  const std::vector<float> logits = {0.0f, 1.0f, 2.0f}, values = {0.5f};
  std::vector<float> log_sums(1), losses(1), dlogits(3), decoded(1);
  const TwoHotTask task = {1, 3, logits.data(), values.data(), log_sums.data()};
  RunTwoHotLoss(task, losses.data());
  const double sum = 1.0 + std::exp(1.0) + std::exp(2.0), share = 0.225245;
  EXPECT_NEAR(log_sums[0], std::log(sum), 1e-6);
  EXPECT_NEAR(losses[0], std::log(sum) - (1.0 - share) - 2.0 * share, 1e-6);
  const std::vector<float> slope = {2.0f};
  RunTwoHotLossBackward(task, slope.data(), dlogits.data());
  EXPECT_NEAR(dlogits[0], 2.0 / sum, 1e-6);
  EXPECT_NEAR(dlogits[1], 2.0 * (std::exp(1.0) / sum - (1.0 - share)), 1e-6);
  EXPECT_NEAR(dlogits[2], 2.0 * (std::exp(2.0) / sum - share), 1e-6);
  RunDecode(1, 3, logits.data(), decoded.data());
  // h of it is the mean of the atoms.
  EXPECT_NEAR(std::sqrt(decoded[0] + 1.0) - 1.0 + 0.001 * decoded[0], (std::exp(2.0) - 1.0) / sum,
              1e-6);
}

TEST(SupportKernelsTest, LossAndGradientAreThoseOfPlainOperations) {
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

TEST(SupportKernelsTest, DecodedValuesAreThoseOfPlainOperations) {
  torch::manual_seed(2);
  for (const int64_t atoms : {3, 21, 101}) {
    const at::Tensor logits = at::randn({50, atoms}) * 3.0;
    const at::Tensor expected =
        DecodeSupport(logits.to(at::kDouble), SupportAtoms(atoms).to(at::kDouble));
    EXPECT_LT(reference::Difference(DecodeSupport(logits, SupportAtoms(atoms)), expected), 2e-6);
  }
}

TEST(SupportKernelsTest, WhatIsNotANumberReachesTheLoss) {
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

TEST(SupportKernelsTest, HasNoSecondDerivative) {
  const auto loss = [](const std::vector<at::Tensor>& in) {
    return TwoHotCrossEntropy(in[0], at::zeros({4}));
  };
  reference::ExpectNoSecondDerivative(loss, {at::randn({4, 5})});
}

}  // namespace
}  // namespace lzero
