// What packed engines of latent states share, seen through the simplest of them; their numbers:
// tests/family/packed_engine_parity.h, what they read: latent_engine_test.cc.
#include "lzero/inference/packed_latent_engine.h"

#include "gtest/gtest.h"
#include "lzero/family/muzero/packed/packed_muzero.h"

namespace lzero::packed_latent_engine_test {
namespace {

EngineOptions Options() {
  EngineOptions options;
  options.model.family = Family::kMuZero;
  options.model.latent_loss = LatentLoss::kNone;
  options.model.embed_dim = 8;
  options.model.support_size = 11;
  options.shape = {{2}, 3, 0};
  options.num_envs = 2;
  options.search.num_simulations = 3;
  return options;
}

// A latent of a node for each environment and simulation more.
TEST(PackedLatentEngine, PlannedBytesGrowByTheLatentsOfNodes) {
  EngineOptions options = Options();
  const int64_t few = PackedMuZeroBytes(options).value();
  options.search.num_simulations += 10;
  EXPECT_EQ(PackedMuZeroBytes(options).value() - few, 2 * 10 * 8 * 4);
}

}  // namespace
}  // namespace lzero::packed_latent_engine_test
