// The MuZero engine against the network stepped by hand along random paths: every node keeps its
// own latent state, whatever the order and the other roots.
#include "lzero/family/muzero/muzero_inference.h"

#include <cmath>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/muzero/muzero_network.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/tensor/torch.h"

namespace lzero::muzero_inference_test {
namespace {

constexpr int kNumEnvs = 3;
constexpr int kNumActions = 4;
constexpr int kNumNodes = 9;

EngineOptions Options() {
  EngineOptions options;
  options.model.family = Family::kMuZero;
  options.model.latent_loss = LatentLoss::kNone;
  options.model.embed_dim = 16;
  options.model.encoder_width = 12;
  options.model.support_size = 21;
  options.shape = {{2}, kNumActions, 0};
  options.num_envs = kNumEnvs;
  options.search.num_simulations = kNumNodes - 1;
  options.discount = 0.9;
  return options;
}

std::shared_ptr<MuZeroNetwork> RandomNetwork(const EngineOptions& options) {
  auto network = MuZeroNetwork::Create(options.model, options.shape, 7).value();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(8);
  for (at::Tensor& weight : network->parameters()) weight.add_(torch::randn_like(weight), 0.3);
  return network;
}

std::vector<Root> MakeRoots(const std::vector<float>& observations,
                            const std::vector<uint8_t>& legal) {
  std::vector<Root> roots;
  for (int e = 0; e < kNumEnvs; ++e) {
    Root root;
    root.env = EnvId(e);
    root.observations = absl::MakeConstSpan(observations).subspan(2 * e, 2);
    root.legal_action_mask = legal;
    roots.push_back(root);
  }
  return roots;
}

void ExpectRow(const at::Tensor& expected, const float* got) {
  const at::Tensor row = expected.flatten();
  for (int64_t i = 0; i < row.numel(); ++i) EXPECT_NEAR(row[i].item<float>(), got[i], 1e-4f);
}

TEST(MuZeroInference, EveryNodeIsTheNetworkSteppedAlongItsPath) {
  const EngineOptions options = Options();
  const auto network = RandomNetwork(options);
  auto engine = MakeMuZeroEngine(options).value();
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
  const std::vector<float> observations = {0.1f, -0.5f, 1.0f, 0.3f, -1.2f, 0.7f};
  const std::vector<uint8_t> legal(kNumActions, 1);
  const std::vector<Root> roots = MakeRoots(observations, legal);
  std::vector<float> logits(kNumEnvs * kNumActions), values(kNumEnvs), rewards(kNumEnvs),
      discounts(kNumEnvs);
  ASSERT_TRUE(engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  const torch::NoGradGuard no_grad;
  // [env][node]
  std::vector<std::vector<at::Tensor>> latents(kNumEnvs);
  for (int e = 0; e < kNumEnvs; ++e) {
    latents[e].push_back(
        network->Represent(torch::tensor({{observations[2 * e], observations[2 * e + 1]}})));
    ExpectRow(network->PolicyLogits(latents[e][0]), logits.data() + e * kNumActions);
    ExpectRow(network->DecodeValues(network->ValueLogits(latents[e][0])), values.data() + e);
  }
  RandomStream random(3, "paths");
  for (int node = 1; node < kNumNodes; ++node) {
    std::vector<NodeId> parents, children(kNumEnvs, NodeId(node));
    std::vector<int32_t> actions;
    for (int e = 0; e < kNumEnvs; ++e) {
      parents.push_back(NodeId(random.UniformInt(node)));
      actions.push_back(static_cast<int32_t>(random.UniformInt(kNumActions)));
    }
    ASSERT_TRUE(engine
                    ->RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                         absl::MakeSpan(discounts), absl::MakeSpan(values),
                                         absl::MakeSpan(logits))
                    .ok());
    for (int e = 0; e < kNumEnvs; ++e) {
      latents[e].push_back(network->NextLatents(latents[e][static_cast<size_t>(parents[e].value)],
                                                torch::tensor({actions[e]})));
      const at::Tensor& latent = latents[e].back();
      ExpectRow(network->DecodeRewards(network->RewardLogits(latent)), rewards.data() + e);
      ExpectRow(network->DecodeValues(network->ValueLogits(latent)), values.data() + e);
      ExpectRow(network->PolicyLogits(latent), logits.data() + e * kNumActions);
      EXPECT_FLOAT_EQ(discounts[e], 0.9f);
    }
  }
}

TEST(MuZeroInference, FewerRootsGiveTheSameSearches) {
  const EngineOptions options = Options();
  auto engine = MakeMuZeroEngine(options).value();
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options))).ok());
  const std::vector<float> observations = {0.1f, -0.5f, 1.0f, 0.3f, -1.2f, 0.7f};
  const std::vector<uint8_t> legal(kNumActions, 1);
  const std::vector<Root> roots = MakeRoots(observations, legal);
  auto search = Search::Create(options.search, kNumActions, kNumEnvs).value();
  SearchResult all, last;
  ASSERT_TRUE(search->Run(*engine, roots, {}, &all).ok());
  ASSERT_TRUE(search->Run(*engine, absl::MakeConstSpan(roots).last(1), {}, &last).ok());
  EXPECT_EQ(last.visit_counts,
            std::vector<int32_t>(all.visit_counts.end() - kNumActions, all.visit_counts.end()));
  EXPECT_NEAR(last.root_values[0], all.root_values[2], 1e-4f);
}

TEST(MuZeroInference, PlannedBytesAreWhatIsKept) {
  EngineOptions options = Options();
  options.inference.runner = Runner::kEager;
  const int64_t parameters =
      MuZeroNetwork::Create(options.model, options.shape, 1, at::kMeta).value()->num_parameters();
  // Weights, observations and latents as floats; actions, parents and children as int64.
  EXPECT_EQ(MuZeroEngineBytes(options).value(),
            4 * (parameters + kNumEnvs * 2 + kNumEnvs * kNumNodes * 16) + 8 * kNumEnvs * 3);
}

TEST(MuZeroInference, BoxActionsAreSampled) {
  EngineOptions options = Options();
  options.shape = {{2}, 0, 2};
  options.search.num_sampled_actions = 5;
  auto engine = MakeMuZeroEngine(options).value();
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork(options))).ok());
  const std::vector<float> observations = {0.1f, -0.5f, 1.0f, 0.3f, -1.2f, 0.7f};
  const std::vector<Root> roots = MakeRoots(observations, {});
  auto search = Search::Create(options.search, 5, kNumEnvs).value();
  SearchResult result;
  ASSERT_TRUE(search->Run(*engine, roots, {}, &result).ok());
  int visits = 0;
  for (const int32_t count : result.visit_counts) visits += count;
  EXPECT_EQ(visits, kNumEnvs * (kNumNodes - 1));
  EXPECT_EQ(engine->sampled_actions()->values.size(), kNumEnvs * 5u * 2u);
}

}  // namespace
}  // namespace lzero::muzero_inference_test
