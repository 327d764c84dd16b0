// What is particular to the packed step; its numbers are in runner_parity_test.cc and in
// tests/family/unizero/packed.
#include "lzero/family/unizero/runners/packed_buffers_step.h"

#include "gtest/gtest.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero::packed_buffers_step_test {
namespace {

ModelConfig SmallConfig() {
  ModelConfig config;
  config.embed_dim = 16;
  config.num_heads = 2;
  config.context_length = 4;
  config.support_size = 11;
  config.encoder_width = 16;
  return config;
}

TEST(PackedBuffersStepTest, WrongInputsAreToldByRow) {
  const auto model = RandomModel(SmallConfig(), {{3}, 4}, 1);
  PackedBuffersStep step(*model, {model->config(), model->shape(), 3});
  EXPECT_TRUE(step.Run(3).ok());
  step.buffers().actions[2].fill_(4);
  EXPECT_EQ(step.Run(3), absl::InvalidArgumentError("row 2 of a step: action 4; allowed: 0 .. 3"));
  EXPECT_TRUE(step.Run(2).ok());
  step.buffers().contexts.lengths[1].fill_(4);
  EXPECT_EQ(step.Run(2),
            absl::InvalidArgumentError("row 1 of a step: a context of 4 tokens; allowed: 0 .. 3"));
  EXPECT_EQ(step.Run(4), absl::InvalidArgumentError("a step of 4 rows, made for at most 3"));
}

}  // namespace
}  // namespace lzero::packed_buffers_step_test
