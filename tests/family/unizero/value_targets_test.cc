// Targets of values against plain loops in double: bootstraps alone, and behind what came before.
#include <memory>

#include "gtest/gtest.h"
#include "lzero/family/unizero/unizero_losses.h"
#include "lzero/tensor/torch.h"
#include "tests/family/unizero/tiny_model.h"
#include "tests/model/batch_view.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::value_targets_test {
namespace {

using reference::kObservationSize;
using reference::Make;
using reference::RandomBatch;
using reference::Row;
using reference::TinyConfig;
using reference::ViewBatch;
using reference::Weights;

TEST(ComputeValueTargets, PartialReturnPlusScaledValueOfTheBootstrap) {
  const ModelConfig config = TinyConfig();
  const std::shared_ptr<WorldModel> target = Make(config, 2);
  TrainBatch arrays = RandomBatch(2, 1, 2, 11);
  arrays.partial_returns = {1.5f, -2.0f, 0.0f, 40.0f};
  arrays.bootstrap_scales = {0.5f, -0.9f, 1.0f, 0.0f};
  const at::Tensor targets = ComputeValueTargets(*target, ViewBatch(arrays));
  ASSERT_EQ(targets.sizes(), at::IntArrayRef({2, 2}));
  const Weights weights = reference::WeightsOf(*target);
  Row expected;
  for (int i = 0; i < 4; ++i) {
    const Row latent = reference::Encode(
        config, weights, reference::FloatRow(arrays.bootstrap_observations, i, kObservationSize));
    const Row y = reference::TransformerPass(weights, "transformer.", reference::ShapeOf(config),
                                             {latent})[0];
    const double value = reference::DecodeLogits(reference::Head(weights, "value_head", y));
    const size_t at = static_cast<size_t>(i);
    expected.push_back(static_cast<double>(arrays.partial_returns[at]) +
                       static_cast<double>(arrays.bootstrap_scales[at]) * value);
  }
  EXPECT_LT(reference::RelativeError(targets, expected), 1e-5);
  EXPECT_EQ(targets[1][1].item<float>(), 40.0f) << "a termination within n steps: no bootstrap";
}

// Two samples of 4 steps to read, the second one's first step being no step; each value is that of
// its observation behind those before it.
TEST(ComputeValueTargets, BootstrapsInContext) {
  const ModelConfig config = TinyConfig();
  const std::shared_ptr<WorldModel> target = Make(config, 2);
  constexpr int kSteps = 4;
  TrainBatch arrays = RandomBatch(2, 0, 2, 11);
  arrays.bootstrap_scales = {0.5f, -0.9f, 1.0f, 0.25f};
  BatchTensors batch = ViewBatch(arrays);
  torch::manual_seed(5);
  const at::Tensor observations = torch::randn({2, kSteps, kObservationSize});
  batch.bootstrap_observations = observations;
  batch.bootstrap_actions = torch::tensor({{1, 3, 0, 2}, {0, 2, 1, 0}}, at::kInt);
  batch.bootstrap_rows = torch::tensor({{2, 3}, {2, 2}}, at::kLong);
  batch.bootstrap_padding = torch::tensor({0, 2}, at::kLong);
  const at::Tensor targets = ComputeValueTargets(*target, batch);
  const Weights weights = reference::WeightsOf(*target);
  Row expected;
  for (int i = 0; i < 4; ++i) {
    const int sample = i / 2, row = batch.bootstrap_rows[sample][i % 2].item<int>();
    reference::Rows tokens;
    for (int step = sample; step <= row; ++step) {  // a padded step more where sample is 1
      Row observation;
      for (int j = 0; j < kObservationSize; ++j) {
        observation.push_back(observations[sample][step][j].item<double>());
      }
      tokens.push_back(reference::Encode(config, weights, observation));
      const int action = batch.bootstrap_actions[sample][step].item<int>();
      tokens.push_back(reference::EmbedAction(config, weights, action));
    }
    tokens.pop_back();
    const Row y =
        reference::TransformerPass(weights, "transformer.", reference::ShapeOf(config), tokens)
            .back();
    const double value = reference::DecodeLogits(reference::Head(weights, "value_head", y));
    const size_t at = static_cast<size_t>(i);
    expected.push_back(static_cast<double>(arrays.partial_returns[at]) +
                       static_cast<double>(arrays.bootstrap_scales[at]) * value);
  }
  EXPECT_LT(reference::RelativeError(targets, expected), 1e-5);
}

}  // namespace
}  // namespace lzero::value_targets_test
