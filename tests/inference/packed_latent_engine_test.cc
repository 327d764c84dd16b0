// What packed engines of latent states share, seen through the simplest of them; their numbers:
// tests/family/packed_engines_test.cc.
#include "lzero/inference/packed_latent_engine.h"

#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_inference.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/tensor/torch.h"

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

TEST(PackedLatentEngine, OnlyTheNewestObservationIsRead) {
  const EngineOptions options = Options();
  auto engine = MakeMuZeroEngine(options).value();
  const auto network = MuZeroNetwork::Create(options.model, options.shape, 5).value();
  {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& weight : network->parameters()) weight.add_(torch::randn_like(weight));
  }
  ASSERT_TRUE(engine->CopyWeightsFrom(*network).ok());
  EXPECT_EQ(engine->runner_name(), "packed");
  const std::vector<float> with_past = {9.0f, 9.0f, 0.5f, -0.5f};
  Root root;
  root.observations = with_past;
  std::vector<float> logits(3), value(1), plain_logits(3), plain_value(1);
  ASSERT_TRUE(engine->InitialInference({root}, absl::MakeSpan(logits), absl::MakeSpan(value)).ok());
  root.observations = absl::MakeConstSpan(with_past).last(2);
  ASSERT_TRUE(
      engine->InitialInference({root}, absl::MakeSpan(plain_logits), absl::MakeSpan(plain_value))
          .ok());
  EXPECT_EQ(logits, plain_logits);
  EXPECT_EQ(value, plain_value);
}

// A latent of a node for each environment and simulation more.
TEST(PackedLatentEngine, PlannedBytesGrowByTheLatentsOfNodes) {
  EngineOptions options = Options();
  const int64_t few = MuZeroEngineBytes(options).value();
  options.search.num_simulations += 10;
  EXPECT_EQ(MuZeroEngineBytes(options).value() - few, 2 * 10 * 8 * 4);
}

}  // namespace
}  // namespace lzero::packed_latent_engine_test
