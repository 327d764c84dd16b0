// The bound on what an update takes, worked out by hand for small models; cli.memory measures runs.
#include "lzero/family/packed/update_memory.h"

#include "gtest/gtest.h"
#include "lzero/family/packed/families.h"

namespace lzero::update_memory_test {
namespace {

ExperimentConfig SmallConfig() {
  ExperimentConfig config;
  config.model.encoder_width = 10;
  config.model.encoder_layers = 1;
  config.model.embed_dim = 8;
  config.model.num_layers = 1;
  config.model.num_heads = 1;
  config.model.context_length = 4;
  config.model.support_size = 3;
  config.model.head_dim = 5;
  config.replay.num_unroll_steps = 2;
  config.train.batch_size = 7;
  return config;
}

TEST(UpdateMemory, OfUniZeroIsObservationsTokensAndHeads) {
  // An observation: 4 numbers, a hidden layer of 10 held 3 times, gradients of it 6 times: 94, of
  // which there are 3. 6 tokens of 17 x 8 + 2 x 4 = 144. Heads of 3 x 5 + 3 x outputs, of 2, 3, 3
  // and 8 outputs: 108, at 3 steps.
  EXPECT_EQ(UniZeroFamily().update_bytes(SmallConfig(), {{4}, 2, 0}),
            4 * 7 * (3 * 94 + 6 * 144 + 3 * 108));
  ExperimentConfig config = SmallConfig();
  config.replay.num_context_steps = 5;  // encoded, and through the transformer; no heads
  EXPECT_EQ(UniZeroFamily().update_bytes(config, {{4}, 2, 0}),
            4 * 7 * (8 * 94 + 16 * 144 + 3 * 108));
}

TEST(UpdateMemory, OfPicturesIsMostlyTheFirstPlanes) {
  ExperimentConfig config = SmallConfig();
  config.model.encoder = EncoderKind::kImage;
  config.model.encoder_channels = 2;
  config.model.encoder_blocks = 1;
  // 16 x 16 x 3: a stem to 8 x 8, a block of two there: 3 layers of 128, each 3 times; the largest
  // 6 times more: 768 + 1,152 + 768 = 2,688.
  const WorldModelShape shape = {{3, 16, 16}, 2, 0};
  EXPECT_EQ(UniZeroFamily().update_bytes(config, shape), 4 * 7 * (3 * 2688 + 6 * 144 + 3 * 108));
  // A board has its stem at full size: 3 layers of 2 x 16 x 16.
  config.model.encoder = EncoderKind::kBoard;
  EXPECT_EQ(UniZeroFamily().update_bytes(config, shape),
            4 * 7 * (3 * (768 + 15 * 512) + 6 * 144 + 3 * 108));
}

TEST(UpdateMemory, OfAlphaZeroIsOnePositionASample) {
  ExperimentConfig config = SmallConfig();
  config.replay.num_unroll_steps = 1;
  // The encoder 94, latents 4 x 8, heads 21 and 24.
  EXPECT_EQ(AlphaZeroFamily().update_bytes(config, {{4}, 2, 0}), 4 * 7 * (94 + 32 + 21 + 24));
}

TEST(UpdateMemory, OfMuZeroGrowsWithEveryStep) {
  ExperimentConfig config = SmallConfig();
  const int64_t two = MuZeroFamily().update_bytes(config, {{4}, 2, 0});
  config.replay.num_unroll_steps = 3;
  // A step more: an observation (94), and twice: a state of 8 held 6 times, a hidden layer of 5
  // held 3 times, gradients of 8 6 times (111), heads of 2, 3, 3 and no outcomes (21 + 24 + 24 +
  // 15).
  EXPECT_EQ(MuZeroFamily().update_bytes(config, {{4}, 2, 0}) - two, 4 * 7 * (94 + 2 * (111 + 84)));
  config.model.latent_loss = LatentLoss::kNone;
  EXPECT_EQ(MuZeroFamily().update_bytes(config, {{4}, 2, 0}), 4 * 7 * (94 + 3 * (111 + 84)));
}

}  // namespace
}  // namespace lzero::update_memory_test
