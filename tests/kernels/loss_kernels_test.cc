// Kernels of the loss terms by hand and against plain loops in double.
#include "lzero/kernels/loss_kernels.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/random_floats.h"

namespace lzero::loss_kernels_test {
namespace {

// Two samples of two steps; the second sample has one valid position, the last term none.
struct Terms {
  std::vector<float> all = {1, 1, 1, 1}, some = {1, 1, 0, 1}, none = {0, 0, 0, 0};
  std::vector<float> importance = {0.5f, 2.0f};
  TermsTask task;

  Terms() {
    task.samples = task.steps = 2;
    const std::vector<float>* masks[] = {&all, &some, &all, &some, &none};
    for (int term = 0; term < kNumLossTerms; ++term) {
      task.masks[term] = masks[term]->data();
      task.weights[term] = static_cast<float>(term + 1);
    }
    task.importance_weights = importance.data();
  }
};

TEST(LossKernelsTest, SlopesByHand) {
  const Terms terms;
  std::vector<float> slopes(20);
  ComputeSlopes(terms.task, slopes.data());
  // weight * importance / samples / valid positions.
  EXPECT_EQ(slopes, std::vector<float>({0.125f, 0.125f, 0.5f,   0.5f, 0.25f, 0.25f, 0.0f,
                                        2.0f,   0.375f, 0.375f, 1.5f, 1.5f,  0.5f,  0.5f,
                                        0.0f,   4.0f,   0.0f,   0.0f, 0.0f,  0.0f}));
}

TEST(LossKernelsTest, TheTotalIsTheSumOfLossesTimesTheirSlopes) {
  const Terms terms;
  std::vector<float> slopes(20), losses(20), means(kNumLossTerms);
  for (int i = 0; i < 20; ++i) losses[i] = static_cast<float>(i * i % 7);
  ComputeSlopes(terms.task, slopes.data());
  double expected = 0.0;
  for (int i = 0; i < 20; ++i) expected += static_cast<double>(slopes[i]) * losses[i];
  EXPECT_NEAR(SumTerms(terms.task, losses.data(), means.data()), expected, 1e-5);
  EXPECT_NEAR(means[0], (0.5 * (losses[0] + losses[1]) + 0.5 * (losses[2] + losses[3])) / 2, 1e-6);
  EXPECT_NEAR(means[1], (0.5 * (losses[4] + losses[5]) + losses[7]) / 2, 1e-6);
  EXPECT_EQ(means[4], 0.0f);
  losses[13] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(SumTerms(terms.task, losses.data(), means.data())));
}

// log_softmax of a row in double; minus 1e9 in place of what is illegal.
std::vector<double> LogSoftmax(const float* logits, const bool* illegal, int64_t actions) {
  std::vector<double> row;
  double largest = -std::numeric_limits<double>::infinity(), sum = 0.0;
  for (int64_t a = 0; a < actions; ++a) {
    row.push_back(illegal != nullptr && illegal[a] ? -1e9 : logits[a]);
    largest = std::max(largest, row.back());
  }
  for (const double number : row) sum += std::exp(number - largest);
  for (double& number : row) number -= largest + std::log(sum);
  return row;
}

// Loops in double give the losses and, by the derivatives of softmax and entropy, the gradient:
// dCross = softmax * sum(policy) - policy, dEntropy = -p (log p + entropy) of legal actions.
void ExpectPolicyLoss(int64_t rows, int64_t actions) {
  const std::vector<float> logits = RandomFloats(rows * actions, 1, 3.0f);
  std::vector<float> policies = RandomFloats(rows * actions, 2);
  const std::vector<float> draws = RandomFloats(rows * actions, 3);
  const auto illegal = std::make_unique<bool[]>(draws.size());
  for (size_t i = 0; i < draws.size(); ++i) {
    policies[i] = std::abs(policies[i]);
    illegal[i] = draws[i] < -0.25f || i < static_cast<size_t>(actions);
  }
  const std::vector<float> slopes = RandomFloats(2 * rows, 4);
  std::vector<float> losses(slopes.size()), dlogits(logits.size());
  RunPolicyLoss({rows, actions, logits.data(), policies.data(), illegal.get(), slopes.data(),
                 slopes.data() + rows},
                losses.data(), losses.data() + rows, dlogits.data());
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t first = row * actions;
    const std::vector<double> log_all = LogSoftmax(&logits[first], nullptr, actions);
    const std::vector<double> log_legal = LogSoftmax(&logits[first], &illegal[first], actions);
    double cross = 0.0, entropy = 0.0, shares = 0.0;
    for (int64_t a = 0; a < actions; ++a) {
      cross -= policies[first + a] * log_all[a];
      entropy -= std::exp(log_legal[a]) * log_legal[a];
      shares += policies[first + a];
    }
    EXPECT_NEAR(losses[row], cross, 1e-6 * (1.0 + 10.0 * cross)) << actions;
    EXPECT_NEAR(losses[rows + row], entropy, 2e-6 * (1.0 + entropy)) << actions;
    for (int64_t a = 0; a < actions; ++a) {
      const double dcross = std::exp(log_all[a]) * shares - policies[first + a];
      const double dentropy =
          illegal[first + a] ? 0.0 : -std::exp(log_legal[a]) * (log_legal[a] + entropy);
      const double expected = slopes[row] * dcross + slopes[rows + row] * dentropy;
      EXPECT_NEAR(dlogits[first + a], expected, 1e-5 * (1.0 + std::abs(expected))) << actions;
    }
  }
}

TEST(LossKernelsTest, PolicyLossAndEntropyAreThoseOfPlainLoops) {
  for (const int64_t actions : {1, 2, 5, 16, 18, 33, 100}) ExpectPolicyLoss(20, actions);
}

TEST(LossKernelsTest, WhatIsNotANumberReachesThePolicyLoss) {
  const std::vector<float> logits = {0.0f, std::nanf(""), 1.0f}, policies = {0.2f, 0.3f, 0.5f};
  const bool illegal[] = {false, false, false};
  const float slope = 1.0f;
  float loss = 0.0f, entropy = 0.0f;
  RunPolicyLoss({1, 3, logits.data(), policies.data(), illegal, &slope, &slope}, &loss, &entropy,
                nullptr);
  EXPECT_TRUE(std::isnan(loss));
}

TEST(LossKernelsTest, SquaredDistanceByHand) {
  const std::vector<float> predicted = {1, 2, 3, 0, 0, 0}, target = {0, 2, 5, 1, 1, 1};
  const std::vector<float> slopes = {3.0f, -6.0f};
  std::vector<float> losses(2), gradient(6);
  RunSquaredDistance(2, 3, predicted.data(), target.data(), slopes.data(), losses.data(),
                     gradient.data());
  EXPECT_NEAR(losses[0], 5.0 / 3.0, 1e-6);
  EXPECT_NEAR(losses[1], 1.0, 1e-6);
  const std::vector<double> expected = {2, 0, -4, 4, 4, 4};
  for (int i = 0; i < 6; ++i) EXPECT_NEAR(gradient[i], expected[i], 1e-5) << i;
}

TEST(LossKernelsTest, ValueErrorsByHand) {
  const std::vector<float> values = {1, 2, 3, 4, 5, 6}, targets = {0, 4, 3, 9, 0, 0};
  const std::vector<float> mask = {1, 1, 0, 0, 0, 0};
  std::vector<float> errors(3);
  EXPECT_NEAR(ComputeValueErrors(3, 2, values.data(), targets.data(), mask.data(), errors.data()),
              0.5, 1e-6);
  EXPECT_EQ(errors, std::vector<float>({1.5f, 0.0f, 0.0f}));
}

TEST(LossKernelsTest, LatentStatisticsByHand) {
  // Columns 1, 3 and 2, 2 and 0, 4: deviations 1, 0, 2.
  const std::vector<float> latents = {1, 2, 0, 3, 2, 4};
  float spread = 0.0f, norm = 0.0f;
  ComputeLatentStatistics(2, 3, latents.data(), &spread, &norm);
  EXPECT_NEAR(spread, 1.0, 1e-6);
  EXPECT_NEAR(norm, (std::sqrt(5.0) + std::sqrt(29.0)) / 2, 1e-6);
}

}  // namespace
}  // namespace lzero::loss_kernels_test
