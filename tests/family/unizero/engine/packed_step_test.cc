// The packed step and its sizes; its numbers are in ../runners/runner_parity_test.cc, ../packed and
// unizero_inference_test.cc.
#include "lzero/family/unizero/engine/packed_step.h"

#include "gtest/gtest.h"

namespace lzero::packed_step_test {
namespace {

// Observes four numbers, two actions.
PackedStepOptions DefaultModel() { return {ModelConfig(), {{4}, 2}, 8}; }

TEST(PackedStepTest, ADefaultModelNeedsWhatIsPlanned) {
  // 247,244 parameters, policy padded to 16 columns and supports of 101 to 112: 1.1 MB of weights.
  PackedStepOptions options = DefaultModel();
  const int64_t bytes = PackedStep::Bytes(options);
  EXPECT_GT(bytes, 4 * 247244);
  EXPECT_LT(bytes, 4 * 247244 * 2);
  options.dtype = InferenceDtype::kBf16;
  EXPECT_LT(PackedStep::Bytes(options), bytes);
}

TEST(PackedStepTest, EncodersOfBoardsStandBesideTheNetwork) {
  PackedStepOptions options = DefaultModel();
  EXPECT_TRUE(EncodesInPacked(options.model));
  EXPECT_EQ(PackedStep(options).encoder(), nullptr);
  const int64_t without = PackedStep::Bytes(options);
  options.model.encoder = EncoderKind::kBoard;
  options.shape.observation_shape = {3, 6, 7};
  EXPECT_FALSE(EncodesInPacked(options.model));
  EXPECT_NE(PackedStep(options).encoder(), nullptr);
  EXPECT_GT(PackedStep::Bytes(options), without);
}

TEST(PackedStepTest, ContextsAreRowsForTheCache) {
  ModelConfig config;
  config.num_layers = 3;
  config.embed_dim = 8;
  config.context_length = 5;
  PackedContexts contexts(config, 4);
  const ContextBatch batch = contexts.batch();
  EXPECT_EQ(batch.tokens.numbers, contexts.tokens());
  EXPECT_EQ(batch.tokens.count, 4);
  EXPECT_EQ(batch.tokens.row_size, 4 * 3 * 2 * 8);
  EXPECT_EQ(batch.lengths.numbers, contexts.lengths());
  EXPECT_EQ(PackedContexts::Bytes(config, 4), 4 * (4 * 3 * 2 * 8 * 4 + 8));
}

}  // namespace
}  // namespace lzero::packed_step_test
