// What the world model imagines one step ahead is what its training pass predicts.
#include "lzero/family/unizero/imagine_sequence.h"

#include <memory>

#include "gtest/gtest.h"
#include "lzero/nn/threads.h"
#include "lzero/tensor/torch.h"
#include "tests/model/batch_view.h"
#include "tests/model/random_batch.h"
#include "tests/model/reference_model.h"

namespace lzero::imagine_sequence_test {
namespace {

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
  SetTensorThreads(1);
  auto model = WorldModel::Create(TinyConfig(), {{3}, reference::kNumActions}, 3).value();
  reference::Scatter(*model, 0.3, 4);
  return model;
}

// One step ahead nothing is imagined but the end: rewards and the first latent are those of the
// training pass.
TEST(ImagineSequence, OneStepAheadIsTheTrainingPass) {
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
  EXPECT_TRUE(at::allclose(imagined.rewards.select(1, 0),
                           model->DecodeRewards(model->RewardLogits(y)), 1e-3, 1e-3));
  EXPECT_TRUE(at::allclose(imagined.latents.select(1, 0), model->NextLatent(y), 1e-4, 1e-4));
  // The value of the real state after one step, from the real context.
  const at::Tensor z = outputs.select(1, 2 * 3);
  EXPECT_TRUE(at::allclose(imagined.real_values.select(1, 0),
                           model->DecodeValues(model->ValueLogits(z)), 1e-3, 1e-3));
}

}  // namespace
}  // namespace lzero::imagine_sequence_test
