// Errors of imagination: means by hand, and that a model that is asked for what it just predicted
// is never wrong.
#include "lzero/world_model/open_loop.h"

#include <cmath>
#include <memory>

#include "gtest/gtest.h"
#include "lzero/tensor/torch.h"
#include "tests/world_model/batch_view.h"
#include "tests/world_model/random_batch.h"
#include "tests/world_model/reference_model.h"

namespace lzero {
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

ModelConfig TinyConfig() {
  ModelConfig config;
  config.encoder_width = 10;
  config.embed_dim = 16;
  config.context_length = 6;
  config.support_size = 11;
  config.head_dim = 12;
  return config;
}

std::shared_ptr<WorldModel> RandomModel() {
  at::set_num_threads(1);
  auto model = WorldModel::Create(TinyConfig(), {{3}, reference::kNumActions}, 3).value();
  reference::Scatter(*model, 0.3, 4);
  return model;
}

// One step ahead nothing is imagined but the end: rewards and the first latent are those of the
// training pass.
TEST(OpenLoop, OneStepAheadIsTheTrainingPass) {
  const auto model = RandomModel();
  TrainBatch batch = reference::RandomBatch(5, 2, 3, 8);
  const BatchTensors tensors = reference::ViewBatch(batch);
  const torch::NoGradGuard no_grad;
  const Imagined imagined = ImagineSequence(*model, tensors, 3);
  EXPECT_EQ(imagined.latents.sizes(), at::IntArrayRef({5, 3, 16}));
  const at::Tensor latents =
      model->Encode(tensors.observations.narrow(1, 0, 5).flatten(0, 1)).view({5, 5, -1});
  const at::Tensor outputs = model->transformer().Forward(
      model->MakeTokens(latents, tensors.actions), tensors.num_padding, nullptr);
  const at::Tensor y = outputs.select(1, 2 * 2 + 1);  // at the first unrolled action
  EXPECT_TRUE(at::allclose(imagined.rewards.select(1, 0), model->Decode(model->RewardLogits(y)),
                           1e-3, 1e-3));
  EXPECT_TRUE(at::allclose(imagined.latents.select(1, 0), model->NextLatent(y), 1e-4, 1e-4));
  // The value of the real state after one step, from the real context.
  const at::Tensor z = outputs.select(1, 2 * 3);
  EXPECT_TRUE(at::allclose(imagined.real_values.select(1, 0), model->Decode(model->ValueLogits(z)),
                           1e-3, 1e-3));
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
}  // namespace lzero
