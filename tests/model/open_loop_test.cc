// Errors of imagination: means by hand.
#include "lzero/model/open_loop.h"

#include <cmath>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/random_batch.h"

namespace lzero::open_loop_test {
namespace {

TEST(OpenLoop, MeansOverValidPositionsByHand) {
  BatchTensors batch;
  batch.reward_mask = torch::tensor({{1.0f, 1.0f, 1.0f}, {1.0f, 0.0f, 1.0f}});
  batch.latent_mask = torch::tensor({{1.0f, 0.0f, 1.0f}, {1.0f, 0.0f, 1.0f}});
  batch.policy_mask = torch::ones({2, 3});
  Imagined imagined;
  imagined.rewards = torch::tensor({{1.0f, 2.0f}, {3.0f, 4.0f}});
  imagined.real_rewards = torch::tensor({{0.0f, 0.0f}, {5.0f, 9.0f}});
  imagined.values = torch::tensor({{1.0f, 1.0f}, {1.0f, 1.0f}});
  imagined.real_values = torch::tensor({{4.0f, 0.0f}, {0.0f, 0.0f}});
  imagined.latents = torch::zeros({2, 2, 2});
  imagined.real_latents = torch::full({2, 2, 2}, 3.0f);
  const at::Tensor errors = OpenLoopErrors(imagined, batch);
  EXPECT_FLOAT_EQ(errors[0][0].item<float>(), 1.5f);  // (1 + 2) / 2
  EXPECT_FLOAT_EQ(errors[0][1].item<float>(), 2.0f);  // the second sample is masked
  EXPECT_FLOAT_EQ(errors[1][0].item<float>(), 2.0f);  // (3 + 1) / 2
  EXPECT_TRUE(std::isnan(errors[1][1].item<float>()));
  EXPECT_FLOAT_EQ(errors[2][0].item<float>(), 9.0f);
  // The first sample's episode ended before its first step: what follows was never played.
  batch.policy_mask = torch::tensor({{0.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 1.0f}});
  const at::Tensor played = OpenLoopErrors(imagined, batch);
  EXPECT_FLOAT_EQ(played[0][0].item<float>(), 2.0f);
  EXPECT_TRUE(std::isnan(played[0][1].item<float>()));
  EXPECT_FLOAT_EQ(played[1][0].item<float>(), 1.0f);
}

TEST(OpenLoop, FirstSamplesAreCutFromEveryTensor) {
  TrainBatch batch = reference::RandomBatch(5, 2, 3, 8);
  const BatchTensors first = FirstSamples(reference::ViewBatch(batch), 2);
  EXPECT_EQ(first.observations.size(0), 2);
  EXPECT_EQ(first.policies.size(0), 2);
  EXPECT_FALSE(first.sampled_actions.defined());
  EXPECT_EQ(FirstSamples(first, 9).rewards.size(0), 2);
}

}  // namespace
}  // namespace lzero::open_loop_test
