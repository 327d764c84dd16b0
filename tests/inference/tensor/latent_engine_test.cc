// What engines of latent states share, seen through the simplest of them.
#include "lzero/inference/tensor/latent_engine.h"

#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/family/tensor_families.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/tensor/torch.h"

namespace lzero::latent_engine_test {
namespace {

EngineOptions Options() {
  EngineOptions options;
  options.model.family = Family::kMuZero;
  options.model.latent_loss = LatentLoss::kNone;
  options.model.embed_dim = 8;
  options.model.encoder_width = 8;
  options.model.support_size = 11;
  options.shape = {{2}, 3, 0};
  options.num_envs = 2;
  options.search.num_simulations = 3;
  options.inference.runner = Runner::kEager;
  return options;
}

// The packed one, too.
class EitherLatentEngine : public testing::TestWithParam<Runner> {};

TEST_P(EitherLatentEngine, OnlyTheNewestObservationIsRead) {
  EngineOptions options = Options();
  options.inference.runner = GetParam();
  auto engine = MakeEngine(options, nullptr).value();
  const auto network = MuZeroNetwork::Create(options.model, options.shape, 5).value();
  {
    const torch::NoGradGuard no_grad;
    for (at::Tensor& weight : network->parameters()) weight.add_(torch::randn_like(weight));
  }
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
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

INSTANTIATE_TEST_SUITE_P(Both, EitherLatentEngine,
                         testing::Values(Runner::kEager, Runner::kPacked));

}  // namespace
}  // namespace lzero::latent_engine_test
