#include "tests/nn/gradients.h"

#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
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
                                      const std::string& what, double tolerance) {
  const std::vector<at::Tensor> fused = Leaves(inputs, at::kFloat);
  const std::vector<at::Tensor> plain = Leaves(inputs, at::kDouble);
  const at::Tensor actual = function(fused), expected = function(plain);
  ASSERT_EQ(actual.sizes(), expected.sizes()) << what;
  EXPECT_LT(Difference(actual, expected), tolerance) << what;
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

void ExpectBitsOfThreads(const Function& function, const std::vector<at::Tensor>& inputs) {
  const int before = at::get_num_threads();
  const auto run = [&](int threads) {
    SetTensorThreads(threads);
    const std::vector<at::Tensor> leaves = Leaves(inputs, at::kFloat);
    const at::Tensor y = function(leaves);
    y.square().sum().backward();
    std::vector<at::Tensor> results = {y.detach()};
    for (const at::Tensor& leaf : leaves) {
      if (leaf.defined()) results.push_back(leaf.grad());
    }
    return results;
  };
  const std::vector<at::Tensor> one = run(1);
  for (const int threads : {1, 2, 3}) {
    const std::vector<at::Tensor> first = run(threads), again = run(threads);
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(at::equal(first[i], again[i])) << threads << " threads, result " << i;
      if (i < 2) {
        EXPECT_TRUE(at::equal(first[i], one[i])) << threads << " threads, result " << i;
      }
      EXPECT_LT(Difference(first[i], one[i]), 1e-5) << threads << " threads, result " << i;
    }
  }
  SetTensorThreads(before);
}

void ExpectTheGraphCanBeRetained(const Function& function, const std::vector<at::Tensor>& inputs) {
  const std::vector<at::Tensor> leaves = Leaves(inputs, at::kFloat);
  std::vector<at::Tensor> defined;
  for (const at::Tensor& leaf : leaves) {
    if (leaf.defined()) defined.push_back(leaf);
  }
  const at::Tensor loss = function(leaves).square().sum();
  const auto first = torch::autograd::grad({loss}, defined, {}, /*retain_graph=*/true);
  const auto second = torch::autograd::grad({loss}, defined);
  for (size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(at::equal(first[i], second[i])) << "input " << i;
  }
}

void ExpectNoSecondDerivative(const Function& function, const std::vector<at::Tensor>& inputs) {
  SetTensorThreads(1);  // a forked process has none of a team's threads
  const std::vector<at::Tensor> leaves = Leaves(inputs, at::kFloat);
  EXPECT_DEATH(torch::autograd::grad({function(leaves).sum()}, {leaves[0]}, {},
                                     /*retain_graph=*/true, /*create_graph=*/true),
               "no second derivative");
}

}  // namespace lzero::reference
