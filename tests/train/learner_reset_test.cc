// Resets of a network, and which error of a sample becomes its priority.
#include <cmath>

#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "lzero/train/learner.h"
#include "tests/model/random_batch.h"
#include "tests/train/train_testing.h"

namespace lzero::learner_reset_test {
namespace {

std::unique_ptr<Learner> MakeLearner(const ExperimentConfig& config) {
  SetTensorThreads(1);
  return Learner::Create(config, {{reference::kObservationSize}, reference::kNumActions}).value();
}

// After two updates of batches of its own and a reset.
std::unique_ptr<Learner> Trained(const ExperimentConfig& config, unsigned seed,
                                 std::map<std::string, at::Tensor>* before) {
  auto learner = MakeLearner(config);
  for (const unsigned batch : {seed, seed + 1}) {
    EXPECT_TRUE(learner->Update(reference::RandomBatch(5, 1, 3, batch), 0.01, nullptr).ok());
  }
  for (const auto& entry : learner->model().named_parameters()) {
    (*before)[entry.key()] = entry.value().detach().clone();
  }
  EXPECT_TRUE(learner->Reset().ok());
  return learner;
}

// Two networks that learned from unlike batches: whatever the fresh weights are, heads are alike
// then, and three quarters of the difference of all else are left.
TEST(LearnerReset, HeadsBeginAnewAndTheRestIsMixedWithFreshWeights) {
  ExperimentConfig config = TinyConfig();
  config.train.reset_share = 0.25;
  config.model.normalize_observations = true;
  std::map<std::string, at::Tensor> before, other_before;
  const auto learner = Trained(config, 1, &before), other = Trained(config, 7, &other_before);
  const auto after = learner->model().named_parameters();
  for (const auto& entry : other->model().named_parameters()) {
    const std::string& name = entry.key();
    const at::Tensor gap = after[name] - entry.value();
    const at::Tensor gap_before = before[name] - other_before[name];
    const bool is_head = name.starts_with("policy_head") || name.starts_with("value_head") ||
                         name.starts_with("reward_head");
    const double left = is_head ? 0.0 : name.starts_with("encoder.observations") ? 1.0 : 0.75;
    EXPECT_TRUE(at::allclose(gap, gap_before * left, 1e-4, 1e-6)) << name;
    if (is_head || left == 1.0) continue;
    EXPECT_FALSE(at::equal(after[name], before[name])) << name;
  }
  EXPECT_EQ(WeightsOf(learner->target()), WeightsOf(learner->model()));
}

// The first step of Adam is as long as the learning rate, wherever there is a gradient.
TEST(LearnerReset, TheOptimiserBeginsAnew) {
  ExperimentConfig config = TinyConfig();
  config.train.weight_decay = 0.0;
  std::map<std::string, at::Tensor> before;
  const auto learner = Trained(config, 1, &before);
  const at::Tensor& weight =
      learner->model().named_parameters()["transformer.block0.expand.weight"];
  const at::Tensor reset = weight.detach().clone();
  ASSERT_TRUE(learner->Update(reference::RandomBatch(5, 1, 3, 3), 0.01, nullptr).ok());
  EXPECT_NEAR(at::abs(weight - reset).median().item<double>(), 0.01, 1e-4);
}

// A batch of which each sample is at fault elsewhere.
TEST(LearnerReset, PrioritiesMayBeErrorsOfTheFirstPosition) {
  TrainBatch batch = reference::RandomBatch(2, 0, 3, 4);
  batch.bootstrap_scales.assign(6, 0.0f);
  batch.value_mask.assign(6, 1.0f);
  batch.partial_returns = {5.0f, 0.0f, 0.0f, 0.0f, 0.0f, 6.0f};
  for (const PriorityError kind : {PriorityError::kMean, PriorityError::kFirst}) {
    ExperimentConfig config = TinyConfig();
    config.replay.prioritized = true;
    config.replay.priority_error = kind;
    std::vector<float> priorities;
    // A fresh network gives every value 0.
    ASSERT_TRUE(MakeLearner(config)->Update(batch, 0.01, &priorities).ok());
    const bool is_first = kind == PriorityError::kFirst;
    ASSERT_EQ(priorities.size(), 2u);
    EXPECT_NEAR(priorities[0], is_first ? 5.0 : 5.0 / 3.0, 1e-3);
    EXPECT_NEAR(priorities[1], is_first ? 0.0 : 2.0, 1e-3);
  }
}

}  // namespace
}  // namespace lzero::learner_reset_test
