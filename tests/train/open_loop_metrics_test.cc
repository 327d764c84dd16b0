// What the learner reports of a model's imagination: every family's horizons, from its last batch.
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/nn/threads.h"
#include "lzero/run/metric_guide.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/model/batch_view.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::open_loop_metrics_test {
namespace {

using reference::RandomBatch;

constexpr int kNumUnroll = 3;

ExperimentConfig ConfigOf(Family family) {
  ExperimentConfig config = TinyConfig();
  config.model.family = family;
  return config;
}

// A learner after one update on `batch`.
std::unique_ptr<Learner> UpdatedLearner(Family family, const TrainBatch& batch) {
  SetTensorThreads(1);
  auto learner =
      Learner::Create(ConfigOf(family), {{reference::kObservationSize}, reference::kNumActions})
          .value();
  EXPECT_TRUE(learner->MeasureOpenLoop().value().empty());  // nothing was learned yet
  EXPECT_TRUE(learner->Update(batch, 0.01, nullptr).ok());
  return learner;
}

TEST(OpenLoopMetricsTest, EveryHorizonOfTheLastBatchIsToldOnce) {
  for (const Family family : {Family::kUniZero, Family::kMuZero}) {
    TrainBatch batch = RandomBatch(20, 0, kNumUnroll, 3);
    const auto learner = UpdatedLearner(family, batch);
    const MetricMap metrics = learner->MeasureOpenLoop().value();
    EXPECT_EQ(metrics.size(), 3u * kNumUnroll);
    const at::Tensor errors =
        learner->model().ComputeOpenLoopErrors(reference::ViewBatch(batch), kNumUnroll);
    for (int k = 0; k < kNumUnroll; ++k) {
      int row = 0;
      for (const char* name : {"reward", "value", "latent"}) {
        const std::string metric = absl::StrCat("open_loop/", name, "_", k + 1);
        ASSERT_TRUE(metrics.contains(metric)) << metric;
        EXPECT_NEAR(metrics.at(metric), errors[row++][k].item<float>(), 1e-5) << metric;
        EXPECT_TRUE(IsExplainedMetric(metric));
      }
    }
    EXPECT_TRUE(learner->MeasureOpenLoop().value().empty());  // no update since
  }
}

// MuZero: step by step with the real actions, compared with what the representation sees there.
TEST(OpenLoopMetricsTest, MuZeroStepsItsLatentsByTheRealActions) {
  TrainBatch batch = RandomBatch(20, 0, kNumUnroll, 4);
  const auto learner = UpdatedLearner(Family::kMuZero, batch);
  const auto& network = dynamic_cast<const MuZeroNetwork&>(learner->model());
  const BatchTensors tensors = reference::ViewBatch(batch);
  const torch::NoGradGuard no_grad;
  const MetricMap metrics = learner->MeasureOpenLoop().value();
  at::Tensor latents = network.Represent(tensors.observations.select(1, 0));
  for (int k = 0; k < kNumUnroll; ++k) {
    latents = network.NextLatents(latents, tensors.actions.select(1, k));
    const at::Tensor real = network.Represent(tensors.observations.select(1, k + 1));
    const at::Tensor rewards = network.DecodeRewards(network.RewardLogits(latents));
    double reward_error = 0.0, latent_error = 0.0, num_rewards = 0.0, num_latents = 0.0;
    for (int n = 0; n < batch.num_samples; ++n) {
      const size_t slot = static_cast<size_t>(n * kNumUnroll + k);
      const double reward_mask = batch.reward_mask[slot] * batch.policy_mask[slot];
      const double latent_mask = batch.latent_mask[slot] * batch.policy_mask[slot];
      reward_error += reward_mask * std::abs(rewards[n].item<float>() - batch.rewards[slot]);
      latent_error += latent_mask * at::mse_loss(latents[n], real[n]).item<float>();
      num_rewards += reward_mask;
      num_latents += latent_mask;
    }
    EXPECT_NEAR(metrics.at(absl::StrCat("open_loop/reward_", k + 1)), reward_error / num_rewards,
                1e-4);
    EXPECT_NEAR(metrics.at(absl::StrCat("open_loop/latent_", k + 1)), latent_error / num_latents,
                1e-4);
  }
}

}  // namespace
}  // namespace lzero::open_loop_metrics_test
