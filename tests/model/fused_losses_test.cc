// One node for all losses: the same numbers and gradients as plain operations in double.
#include "lzero/model/fused_losses.h"

#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/nn/functional/fused_path.h"
#include "lzero/nn/support.h"
#include "lzero/tensor/torch.h"

namespace lzero::fused_losses_test {
namespace {

constexpr int64_t kSamples = 6, kSteps = 3, kActions = 5, kAtoms = 21, kSize = 8;

ModelConfig Config() {
  ModelConfig config;
  config.support_size = kAtoms;
  config.reward_support = {{"min", "-1"}, {"max", "2"}, {"bins", std::to_string(kAtoms)}};
  return config;
}

at::Tensor RandomMask() { return (at::rand({kSamples, kSteps}) < 0.7).to(at::kFloat); }

BatchTensors RandomTensors() {
  BatchTensors batch;
  batch.rewards = at::randn({kSamples, kSteps});
  batch.reward_mask = RandomMask();
  batch.latent_mask = RandomMask();
  batch.value_mask = RandomMask();
  batch.policy_mask = RandomMask();
  batch.policies = at::softmax(at::randn({kSamples, kSteps, kActions}), -1);
  batch.illegal = at::rand({kSamples, kSteps, kActions}) < 0.3;
  batch.importance_weights = at::rand({kSamples}) + 0.5;
  return batch;
}

Predictions RandomPredictions() {
  Predictions predictions;
  predictions.value_logits = at::randn({kSamples, kSteps, kAtoms});
  predictions.policy_logits = at::randn({kSamples, kSteps, kActions});
  predictions.reward_logits = at::randn({kSamples, kSteps, kAtoms});
  predictions.next_latents = at::randn({kSamples, kSteps, kSize});
  predictions.values = at::randn({kSamples, kSteps});
  predictions.value_targets = at::randn({kSamples, kSteps});
  predictions.latent_targets = at::randn({kSamples, kSteps, kSize});
  predictions.latents = at::randn({kSamples, kSteps, kSize});
  return predictions;
}

std::vector<at::Tensor*> Leaves(Predictions& p) {
  return {&p.value_logits, &p.policy_logits, &p.reward_logits, &p.next_latents};
}

at::Tensor MeanOfValid(const at::Tensor& values, const at::Tensor& mask) {
  return (values * mask).sum(1) / at::clamp_min(mask.sum(1), 1.0);
}

// In double: the five terms [5, N].
at::Tensor PlainTerms(const Predictions& p, const BatchTensors& b) {
  const PlainPathGuard guard;
  const at::Tensor log_legal = at::log_softmax(p.policy_logits.masked_fill(b.illegal, -1e9), -1);
  return at::stack(
      {MeanOfValid(at::square(p.next_latents - p.latent_targets).mean(-1), b.latent_mask),
       MeanOfValid(TwoHotCrossEntropy(p.reward_logits, b.rewards.to(at::kDouble),
                                      EvenSupport(-1, 2, kAtoms)),
                   b.reward_mask),
       MeanOfValid(TwoHotCrossEntropy(p.value_logits, p.value_targets.to(at::kDouble),
                                      SqueezedSupport(kAtoms)),
                   b.value_mask),
       MeanOfValid(-(b.policies * at::log_softmax(p.policy_logits, -1)).sum(-1), b.policy_mask),
       MeanOfValid(-(at::exp(log_legal) * log_legal).sum(-1), b.policy_mask)});
}

TEST(FusedLossesTest, NumbersAndGradientsAreThoseOfPlainOperations) {
  torch::manual_seed(1);
  const LossConfig weights = {7.0, 1.3, 0.6, 0.9, 0.07};
  const std::vector<double> factors = {7.0, 1.3, 0.6, 0.9, -0.9 * 0.07};
  for (int trial = 0; trial < 5; ++trial) {
    const BatchTensors batch = RandomTensors();
    Predictions fused = RandomPredictions(), plain = fused;
    for (at::Tensor* leaf : Leaves(fused)) leaf->requires_grad_(true);
    for (at::Tensor* leaf : Leaves(plain)) {
      *leaf = leaf->detach().to(at::kDouble).requires_grad_(true);
    }
    ASSERT_TRUE(CanFuseLosses(fused, batch, Config()));
    const LossSums sums = ComputeFusedLosses(fused, batch, weights, Config());
    (sums.total * 3.0).backward();

    const at::Tensor expected = PlainTerms(plain, batch);
    at::Tensor total = at::zeros({}, at::kDouble);
    for (int term = 0; term < 5; ++term) {
      total = total + factors[term] * (expected[term] * batch.importance_weights).mean();
      EXPECT_NEAR(sums.numbers[term].item<double>(), expected[term].mean().item<double>(), 1e-5)
          << term;
    }
    (total * 3.0).backward();
    EXPECT_NEAR(sums.total.item<double>(), total.item<double>(), 1e-5);
    for (int i = 0; i < 4; ++i) {
      const at::Tensor actual = Leaves(fused)[i]->grad(), truth = Leaves(plain)[i]->grad();
      const double apart = (actual - truth).abs().max().item<double>();
      EXPECT_LT(apart, 1e-5 * truth.abs().max().item<double>()) << i;
    }
    const at::Tensor errors =
        MeanOfValid(at::abs(fused.values - fused.value_targets), batch.value_mask);
    EXPECT_TRUE(at::allclose(sums.value_errors, errors, 1e-5, 1e-6));
    EXPECT_NEAR(sums.numbers[6].item<float>(), errors.mean().item<float>(), 1e-5);
    EXPECT_NEAR(sums.value_errors.max().item<float>(), errors.max().item<float>(), 1e-5);
  }
}

TEST(FusedLossesTest, TakesWhatItsKernelsCanDo) {
  const BatchTensors batch = RandomTensors();
  Predictions predictions = RandomPredictions();
  ModelConfig config = Config();
  EXPECT_TRUE(CanFuseLosses(predictions, batch, config));
  config.latent_loss = LatentLoss::kGroupKl;
  EXPECT_FALSE(CanFuseLosses(predictions, batch, config));
  predictions.values = predictions.values.to(at::kDouble);
  EXPECT_FALSE(CanFuseLosses(predictions, batch, Config()));
}

TEST(FusedLossesTest, TakesPredictionsThatAreNotContiguous) {
  torch::manual_seed(2);
  const BatchTensors batch = RandomTensors();
  Predictions straight = RandomPredictions(), strided = straight;
  for (at::Tensor* leaf : Leaves(strided)) {
    *leaf = leaf->transpose(0, 1).contiguous().transpose(0, 1).requires_grad_(true);
    ASSERT_FALSE(leaf->is_contiguous());
  }
  for (at::Tensor* constant : {&strided.latent_targets, &strided.latents}) {
    *constant = at::stack({*constant, *constant}, -1).select(-1, 0);
  }
  for (at::Tensor* leaf : Leaves(straight)) *leaf = leaf->clone().requires_grad_(true);
  ASSERT_TRUE(CanFuseLosses(strided, batch, Config()));
  const LossSums expected = ComputeFusedLosses(straight, batch, LossConfig(), Config());
  const LossSums sums = ComputeFusedLosses(strided, batch, LossConfig(), Config());
  EXPECT_TRUE(at::equal(sums.numbers, expected.numbers));
  expected.total.backward();
  sums.total.backward();
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(at::equal(Leaves(strided)[i]->grad(), Leaves(straight)[i]->grad())) << i;
  }
}

TEST(FusedLossesTest, TheGraphCanBeRetained) {
  torch::manual_seed(3);
  const BatchTensors batch = RandomTensors();
  Predictions predictions = RandomPredictions();
  std::vector<at::Tensor> leaves;
  for (at::Tensor* leaf : Leaves(predictions)) leaves.push_back(leaf->requires_grad_(true));
  const at::Tensor total = ComputeFusedLosses(predictions, batch, LossConfig(), Config()).total;
  total.backward({}, /*retain_graph=*/true);
  std::vector<at::Tensor> once;
  for (const at::Tensor& leaf : leaves) once.push_back(leaf.grad().clone());
  (total * 2.0).backward();
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(at::allclose(leaves[i].grad(), 3.0 * once[i], 1e-6, 1e-9)) << i;
  }
}

TEST(FusedLossesDeathTest, HasNoSecondDerivative) {
  const BatchTensors batch = RandomTensors();
  Predictions predictions = RandomPredictions();
  predictions.value_logits.requires_grad_(true);
  const at::Tensor total = ComputeFusedLosses(predictions, batch, LossConfig(), Config()).total;
  EXPECT_DEATH(total.backward({}, /*retain_graph=*/true, /*create_graph=*/true),
               "no second derivative");
}

TEST(FusedLossesTest, WithoutGradientsTheLossIsTheSame) {
  const BatchTensors batch = RandomTensors();
  Predictions predictions = RandomPredictions();
  const float without =
      ComputeFusedLosses(predictions, batch, LossConfig(), Config()).total.item<float>();
  predictions.value_logits.requires_grad_(true);
  const LossSums sums = ComputeFusedLosses(predictions, batch, LossConfig(), Config());
  EXPECT_EQ(sums.total.item<float>(), without);
  EXPECT_TRUE(sums.total.requires_grad());
  EXPECT_FALSE(sums.numbers.requires_grad());
}

}  // namespace
}  // namespace lzero::fused_losses_test
