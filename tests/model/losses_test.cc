// Loss terms by hand; against plain loops through a whole model in unizero_losses_test.cc, the
// kernels against plain operations in fused_losses_test.cc.
#include "lzero/model/losses.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/loss_metrics.h"

namespace lzero::losses_test {
namespace {

TEST(MeanOverValid, LeavesOutWhatIsMaskedAndShowsWhatOverflows) {
  const at::Tensor values =
      torch::tensor({{1.0f, 3.0f, 100.0f}, {7.0f, 7.0f, 7.0f}, {3e38f, 3e38f, 0.0f}});
  const at::Tensor mask =
      torch::tensor({{1.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}});
  const at::Tensor means = MeanOverValid(values, mask);
  EXPECT_FLOAT_EQ(means[0].item<float>(), 2.0f);
  EXPECT_FLOAT_EQ(means[1].item<float>(), 0.0f);
  EXPECT_TRUE(std::isinf(means[2].item<float>()));
}

// One sample of one step with latents of two numbers, everything else masked.
TEST(ComputeLossTerms, DistanceOfLatentsByHand) {
  BatchTensors batch;
  batch.rewards = torch::zeros({1, 1});
  batch.latent_mask = torch::ones({1, 1});
  batch.reward_mask = batch.value_mask = batch.policy_mask = torch::zeros({1, 1});
  batch.policies = torch::tensor({{{1.0f, 0.0f}}});
  batch.illegal = torch::zeros({1, 1, 2}, at::kBool);
  batch.importance_weights = torch::ones({1});
  Predictions predictions;
  predictions.value_logits = predictions.reward_logits = torch::zeros({1, 1, 3});
  predictions.policy_logits = torch::zeros({1, 1, 2});
  predictions.values = predictions.value_targets = torch::zeros({1, 1});
  predictions.latents = predictions.next_latents = torch::tensor({{{0.25f, 0.75f}}});
  predictions.latent_targets = torch::tensor({{{0.5f, 0.5f}}});
  LossConfig weights;
  weights.latent_weight = 2.0;
  const auto loss = [&](LatentLoss distance) {
    ModelConfig config;
    config.latent_loss = distance;
    config.support_size = 3;
    config.sim_norm_group = 2;
    const LossTerms terms = ComputeLossTerms(predictions, batch, weights, config);
    EXPECT_FLOAT_EQ(terms.total.item<float>(), 2.0f * MetricOf(terms, "loss/latent").item<float>());
    return MetricOf(terms, "loss/latent").item<float>();
  };
  EXPECT_FLOAT_EQ(loss(LatentLoss::kMse), 0.0625f);
  EXPECT_NEAR(loss(LatentLoss::kGroupKl), 0.5 * std::log(2.0) + 0.5 * std::log(2.0 / 3.0), 1e-6);
  // 1 - (0.125 + 0.375) / (sqrt(0.625) sqrt(0.5))
  EXPECT_NEAR(loss(LatentLoss::kCosine), 1.0 - 0.5 / std::sqrt(0.3125), 1e-6);
}

}  // namespace
}  // namespace lzero::losses_test
