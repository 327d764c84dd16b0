// The size that is planned is the size that is built.
#include "gtest/gtest.h"
#include "lzero/family/alphazero/alphazero_network.h"
#include "lzero/family/unizero/world_model.h"

namespace lzero::model_size_test {
namespace {

ModelConfig Small() {
  ModelConfig config;
  config.encoder_width = 7;
  config.encoder_channels = 5;
  config.embed_dim = 12;
  config.num_layers = 1;
  config.num_heads = 3;
  config.context_length = 4;
  config.support_size = 9;
  return config;
}

void ExpectExact(const ModelConfig& config, const WorldModelShape& shape) {
  const auto model = WorldModel::Create(config, shape, 1);
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*WorldModel::Create(config, shape, 1, at::kMeta))->num_parameters(),
            (*model)->num_parameters());
  const auto alphazero = AlphaZeroNetwork::Create(config, shape, 1);
  ASSERT_TRUE(alphazero.ok()) << alphazero.status();
  EXPECT_EQ((*AlphaZeroNetwork::Create(config, shape, 1, at::kMeta))->num_parameters(),
            (*alphazero)->num_parameters());
}

TEST(ModelSizeTest, VectorModels) {
  for (const int64_t encoder_layers : {0, 1, 3}) {
    for (const int64_t num_layers : {1, 2, 5}) {
      ModelConfig config = Small();
      config.encoder_layers = encoder_layers;
      config.num_layers = num_layers;
      ExpectExact(config, {{4}, 2});
      ExpectExact(config, {{2, 3}, 6});
      config.head_dim = 17;
      ExpectExact(config, {{4}, 2});
    }
  }
}

TEST(ModelSizeTest, BoardModels) {
  for (const int64_t encoder_blocks : {0, 1, 3}) {
    ModelConfig config = Small();
    config.encoder = EncoderKind::kBoard;
    config.encoder_blocks = encoder_blocks;
    ExpectExact(config, {{3, 3, 3}, 9});
    ExpectExact(config, {{2, 5, 4}, 21});
  }
}

TEST(ModelSizeTest, ImageModels) {
  for (const int64_t encoder_blocks : {0, 2}) {
    ModelConfig config = Small();
    config.encoder = EncoderKind::kImage;
    config.encoder_blocks = encoder_blocks;
    ExpectExact(config, {{3, 64, 64}, 9});
    ExpectExact(config, {{4, 96, 96}, 2});
    ExpectExact(config, {{1, 16, 17}, 2});
    ExpectExact(config, {{1, 33, 84}, 2});
  }
}

TEST(ModelSizeTest, AnEncoderThatDoesNotFitIsRefused) {
  ModelConfig config = Small();
  config.encoder = EncoderKind::kBoard;
  EXPECT_TRUE(absl::IsInvalidArgument(WorldModel::Create(config, {{4}, 2}, 1, at::kMeta).status()));
  EXPECT_TRUE(
      absl::IsInvalidArgument(AlphaZeroNetwork::Create(config, {{4}, 2}, 1, at::kMeta).status()));
}

// By hand, far beyond what any machine can build: E = 65536, L = 256, heads of 4 E.
TEST(ModelSizeTest, TheLargestTransformerIsCountedToTheLastNumber) {
  ModelConfig config;
  config.encoder_layers = 0;
  config.embed_dim = 65536;
  config.num_layers = 256;
  config.support_size = 3;
  const int64_t e = 65536;
  const int64_t block = 12 * e * e + 13 * e;  // 3 + 1 + 4 + 4 matrices; 9 E of bias, 4 E of norms
  const auto head = [e](int64_t out) {
    return 2 * e + 4 * e * e + 4 * e + 8 * e + 4 * e * out + out;
  };
  EXPECT_EQ((*WorldModel::Create(config, {{4}, 2}, 1, at::kMeta))->num_parameters(),
            4 * e + e + 2 * e + 256 * block + head(2) + 2 * head(3) + head(e));
}

}  // namespace
}  // namespace lzero::model_size_test
