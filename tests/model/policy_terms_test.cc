// The policy terms against plain loops in double.
#include "lzero/model/policy_terms.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"

namespace lzero::policy_terms_test {
namespace {

constexpr double kPi = 3.14159265358979323846;

BatchTensors BoxBatch(const at::Tensor& actions, const at::Tensor& shares) {
  BatchTensors batch;
  batch.sampled_actions = actions;
  batch.policies = shares;
  return batch;
}

// Entropy of tanh(u), u ~ N(mean, sigma^2), by a sum over many cells of a itself.
double SquashedEntropy(double mean, double sigma) {
  constexpr int kCells = 400000;
  double sum = 0.0;
  for (int i = 0; i < kCells; ++i) {
    const double a = -1.0 + (i + 0.5) * 2.0 / kCells;
    const double z = (std::atanh(a) - mean) / sigma;
    const double p = std::exp(-0.5 * z * z) / (std::sqrt(2.0 * kPi) * sigma * (1.0 - a * a));
    if (p > 0.0) sum -= p * std::log(p) * 2.0 / kCells;
  }
  return sum;
}

TEST(PolicyTerms, BoxEntropyIsThatOfWhatTheTanhGives) {
  struct Case {
    double mean, sigma, tolerance;
  };
  for (const Case& test :
       {Case{0.0, 0.87, 1e-3}, Case{0.4, 0.1, 1e-4}, Case{-1.2, 0.5, 1e-3}, Case{0.5, 2.0, 5e-3}}) {
    const auto mean = static_cast<float>(test.mean);
    const auto log_sigma = static_cast<float>(std::log(test.sigma));
    const at::Tensor outputs = torch::tensor({{{mean, log_sigma}}});
    const PolicyTerms terms =
        BoxPolicyTerms(outputs, BoxBatch(torch::zeros({1, 1, 1, 1}), torch::ones({1, 1, 1})));
    EXPECT_NEAR(terms.entropies.item<double>(), SquashedEntropy(test.mean, test.sigma),
                test.tolerance)
        << test.mean << " " << test.sigma;
  }
}

TEST(PolicyTerms, BoxIsTheWeightedLogDensityOfASquashedGaussian) {
  torch::manual_seed(3);
  const at::Tensor outputs = torch::randn({2, 3, 4});                // D = 2
  const at::Tensor actions = torch::rand({2, 3, 5, 2}) * 1.8 - 0.9;  // K = 5
  const at::Tensor shares = at::softmax(torch::randn({2, 3, 5}), -1);
  const PolicyTerms terms = BoxPolicyTerms(outputs, BoxBatch(actions, shares));
  for (int n = 0; n < 2; ++n) {
    for (int u = 0; u < 3; ++u) {
      double loss = 0.0;
      for (int d = 0; d < 2; ++d) {
        const double log_sigma = outputs[n][u][2 + d].item<double>();
        for (int k = 0; k < 5; ++k) {
          const double a = actions[n][u][k][d].item<double>();
          const double z = (std::atanh(a) - outputs[n][u][d].item<double>()) / std::exp(log_sigma);
          const double density =
              std::exp(-0.5 * z * z) / (std::sqrt(2.0 * kPi) * std::exp(log_sigma) * (1.0 - a * a));
          loss -= shares[n][u][k].item<double>() * std::log(density);
        }
      }
      EXPECT_NEAR(terms.losses[n][u].item<double>(), loss, 1e-4 * std::abs(loss) + 1e-4);
    }
  }
}

TEST(PolicyTerms, ActionsAtTheEndsAndWildSigmasStayFinite) {
  const at::Tensor outputs = torch::tensor({{{50.0f, 90.0f}, {-50.0f, -90.0f}}});
  const at::Tensor wild = outputs.clone().set_requires_grad(true);
  const at::Tensor actions = torch::tensor({{{{1.0f}, {-1.0f}}, {{1.0f}, {0.0f}}}});
  const at::Tensor shares = torch::full({1, 2, 2}, 0.5f);
  const PolicyTerms terms = BoxPolicyTerms(wild, BoxBatch(actions, shares));
  (terms.losses.sum() + terms.entropies.sum()).backward();
  EXPECT_TRUE(at::isfinite(terms.losses).all().item<bool>());
  EXPECT_TRUE(at::isfinite(wild.grad()).all().item<bool>());
}

// Descent on the loss finds the mean and spread of what the search liked.
TEST(PolicyTerms, TheMinimumIsTheWeightedSample) {
  at::Tensor outputs = torch::zeros({1, 1, 2});
  const at::Tensor actions = at::tanh(torch::tensor({{{{0.2f}, {0.6f}, {-3.0f}}}}));
  const at::Tensor shares = torch::tensor({{{0.5f, 0.5f, 0.0f}}});
  for (int i = 0; i < 3000; ++i) {
    outputs = outputs.detach().set_requires_grad(true);
    BoxPolicyTerms(outputs, BoxBatch(actions, shares)).losses.sum().backward();
    outputs = outputs.detach() - 0.01 * outputs.grad();
  }
  EXPECT_NEAR(outputs[0][0][0].item<double>(), 0.4, 1e-3);            // (0.2 + 0.6) / 2
  EXPECT_NEAR(std::exp(outputs[0][0][1].item<double>()), 0.2, 1e-3);  // their deviation
}

TEST(PolicyTerms, DiscreteIsCrossEntropyAndTheEntropyOfLegalActions) {
  BatchTensors batch;
  const at::Tensor logits = torch::tensor({{{1.0f, 2.0f, 0.5f}}});
  batch.policies = torch::tensor({{{0.25f, 0.0f, 0.75f}}});
  batch.illegal = torch::tensor({{{false, true, false}}});
  const PolicyTerms terms = ComputePolicyTerms(logits, batch);
  const double sum = std::exp(1.0) + std::exp(2.0) + std::exp(0.5);
  EXPECT_NEAR(terms.losses.item<double>(),
              -0.25 * (1.0 - std::log(sum)) - 0.75 * (0.5 - std::log(sum)), 1e-6);
  const double p = std::exp(1.0) / (std::exp(1.0) + std::exp(0.5));
  EXPECT_NEAR(terms.entropies.item<double>(), -p * std::log(p) - (1.0 - p) * std::log(1.0 - p),
              1e-6);
}

}  // namespace
}  // namespace lzero::policy_terms_test
