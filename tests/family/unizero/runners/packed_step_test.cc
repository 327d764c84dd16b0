// What is particular to the packed step; its numbers are in runner_parity_test.cc and in
// tests/family/unizero/packed.
#include "lzero/family/unizero/runners/packed_step.h"

#include "gtest/gtest.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/support/torch/counted_allocations.h"

namespace lzero::packed_step_test {
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

TEST(PackedStepTest, WrongInputsAreToldByRow) {
  const auto model = RandomModel(SmallConfig(), {{3}, 4}, 1);
  PackedStep step(*model, 3, InferenceDtype::kFp32, 1);
  EXPECT_TRUE(step.Run(3).ok());
  step.buffers().actions[2].fill_(4);
  EXPECT_EQ(step.Run(3), absl::InvalidArgumentError("row 2 of a step: action 4; allowed: 0 .. 3"));
  EXPECT_TRUE(step.Run(2).ok());
  step.buffers().contexts.lengths[1].fill_(4);
  EXPECT_EQ(step.Run(2),
            absl::InvalidArgumentError("row 1 of a step: a context of 4 tokens; allowed: 0 .. 3"));
  EXPECT_EQ(step.Run(4), absl::InvalidArgumentError("a step of 4 rows, made for at most 3"));
}

TEST(PackedStepTest, EncodersOfBoardsStayInLibtorch) {
  ModelConfig config = SmallConfig();
  EXPECT_TRUE(EncodesInPacked(config));
  config.encoder = EncoderKind::kBoard;
  EXPECT_FALSE(EncodesInPacked(config));
  const auto model = RandomModel(config, {{1, 3, 3}, 9}, 2);
  PackedStep step(*model, 2, InferenceDtype::kFp32, 1);
  EXPECT_TRUE(step.Run(2).ok());
}

TEST(PackedStepTest, ADefaultModelNeedsWhatIsPlanned) {
  ModelConfig config;
  const auto model = RandomModel(config, {{4}, 2}, 3);
  // 247,244 parameters, policy padded to 16 columns and supports of 101 to 112: 1.1 MB of weights.
  const int64_t bytes = PackedStepBytes(config, model->shape(), 8, InferenceDtype::kFp32, 1);
  EXPECT_GT(bytes, 4 * 247244);
  EXPECT_LT(bytes, 4 * 247244 * 2);
  EXPECT_LT(PackedStepBytes(config, model->shape(), 8, InferenceDtype::kBf16, 1), bytes);
}

}  // namespace
}  // namespace lzero::packed_step_test
