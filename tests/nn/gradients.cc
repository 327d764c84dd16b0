#include "tests/nn/gradients.h"

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "torch/csrc/autograd/autograd.h"

namespace lzero::reference {
namespace {

// Leaves of their own that need gradients.
std::vector<at::Tensor> Leaves(const std::vector<at::Tensor>& inputs, at::ScalarType type) {
  std::vector<at::Tensor> leaves;
  for (const at::Tensor& input : inputs) {
    leaves.push_back(
        input.defined()
            ? input.detach().to(type, /*non_blocking=*/false, /*copy=*/true).set_requires_grad(true)
            : input);
  }
  return leaves;
}

}  // namespace

double Difference(const at::Tensor& actual, const at::Tensor& expected) {
  const at::Tensor truth = expected.detach().to(at::kDouble);
  const double largest = truth.abs().max().item<double>();
  const double apart = (actual.detach().to(at::kDouble) - truth).abs().max().item<double>();
  return apart / std::max(largest, 1e-30);
}

void ExpectGradientsOfPlainOperations(const Function& function,
                                      const std::vector<at::Tensor>& inputs,
                                      const std::string& what) {
  const std::vector<at::Tensor> fused = Leaves(inputs, at::kFloat);
  const std::vector<at::Tensor> plain = Leaves(inputs, at::kDouble);
  const at::Tensor actual = function(fused), expected = function(plain);
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  EXPECT_LT(Difference(actual, expected), 1e-6) << what;
  const at::Tensor gradient = at::randn(actual.sizes());
  actual.backward(gradient);
  expected.backward(gradient.to(at::kDouble));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!inputs[i].defined()) continue;
    ASSERT_TRUE(fused[i].grad().defined()) << what << ", input " << i;
    EXPECT_LT(Difference(fused[i].grad(), plain[i].grad()), 1e-5) << what << ", input " << i;
  }
  const c10::InferenceMode inference;
  EXPECT_TRUE(at::equal(function(inputs), actual)) << what << ", without gradients";
}

void ExpectNoSecondDerivative(const Function& function, const std::vector<at::Tensor>& inputs) {
  const std::vector<at::Tensor> leaves = Leaves(inputs, at::kFloat);
  EXPECT_DEATH(torch::autograd::grad({function(leaves).sum()}, {leaves[0]}, {},
                                     /*retain_graph=*/true, /*create_graph=*/true),
               "no second derivative");
}

}  // namespace lzero::reference
