// The buffers of a step.
#include "lzero/family/unizero/runners/recurrent_step.h"

#include "gtest/gtest.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero::recurrent_step_test {
namespace {

constexpr int64_t kMaxBatch = 5;

// W 6, L 3, E 8, A 4.
std::shared_ptr<WorldModel> SmallModel() {
  ModelConfig config;
  config.embed_dim = 8;
  config.num_heads = 2;
  config.num_layers = 3;
  config.context_length = 6;
  config.support_size = 11;
  config.encoder_width = 8;
  return RandomModel(config, {{2}, 4}, 1);
}

void ExpectBuffer(const at::Tensor& tensor, at::IntArrayRef shape, at::ScalarType type) {
  EXPECT_EQ(tensor.sizes(), shape);
  EXPECT_EQ(tensor.scalar_type(), type);
  EXPECT_TRUE(tensor.is_contiguous());
  EXPECT_TRUE(tensor.is_cpu());
  EXPECT_FALSE(tensor.requires_grad());
}

TEST(RecurrentStepTest, ContextsAreEmptyAtFirst) {
  const ContextTensors contexts = MakeContextTensors(*SmallModel(), kMaxBatch);
  ExpectBuffer(contexts.tokens, {kMaxBatch, 5, 3, 2, 8}, at::kFloat);
  ExpectBuffer(contexts.lengths, {kMaxBatch}, at::kLong);
  EXPECT_TRUE(at::equal(contexts.tokens, at::zeros_like(contexts.tokens)));
  EXPECT_TRUE(at::equal(contexts.lengths, at::zeros_like(contexts.lengths)));
}

TEST(RecurrentStepTest, BuffersHaveTheShapesOfTheModel) {
  const StepBuffers buffers = MakeStepBuffers(*SmallModel(), kMaxBatch);
  ExpectBuffer(buffers.contexts.tokens, {kMaxBatch, 5, 3, 2, 8}, at::kFloat);
  ExpectBuffer(buffers.contexts.lengths, {kMaxBatch}, at::kLong);
  ExpectBuffer(buffers.actions, {kMaxBatch}, at::kLong);
  ExpectBuffer(buffers.rewards, {kMaxBatch}, at::kFloat);
  ExpectBuffer(buffers.values, {kMaxBatch}, at::kFloat);
  ExpectBuffer(buffers.prior_logits, {kMaxBatch, 4}, at::kFloat);
  ExpectBuffer(buffers.tokens, {kMaxBatch, 2, 3, 2, 8}, at::kFloat);
}

TEST(RecurrentStepTest, BytesAreKnownBeforeTheBuffersAre) {
  const auto model = SmallModel();
  const StepBuffers buffers = MakeStepBuffers(*model, kMaxBatch);
  const auto contexts =
      static_cast<int64_t>(buffers.contexts.tokens.nbytes() + buffers.contexts.lengths.nbytes());
  EXPECT_EQ(ContextTensorsBytes(model->config(), kMaxBatch), contexts);
  EXPECT_EQ(
      StepBuffersBytes(model->config(), model->shape(), kMaxBatch),
      contexts + static_cast<int64_t>(buffers.actions.nbytes() + buffers.rewards.nbytes() +
                                      buffers.values.nbytes() + buffers.prior_logits.nbytes() +
                                      buffers.tokens.nbytes()));
}

}  // namespace
}  // namespace lzero::recurrent_step_test
