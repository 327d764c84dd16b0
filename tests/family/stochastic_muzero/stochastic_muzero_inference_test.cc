// The engine against the network stepped by hand: decision nodes and afterstates take turns, in
// batches that mix both.
#include "lzero/family/stochastic_muzero/stochastic_muzero_inference.h"

#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "lzero/tensor/torch.h"

namespace lzero::stochastic_muzero_inference_test {
namespace {

constexpr int kNumEnvs = 3, kNumActions = 2, kNumOutcomes = 4, kNumNodes = 12;
constexpr float kInf = std::numeric_limits<float>::infinity();

EngineOptions Options() {
  EngineOptions options;
  options.model.family = Family::kStochasticMuZero;
  options.model.latent_loss = LatentLoss::kNone;
  options.model.embed_dim = 16;
  options.model.encoder_width = 12;
  options.model.support_size = 21;
  options.shape = {{2}, kNumActions, 0, kNumOutcomes};
  options.num_envs = kNumEnvs;
  options.search.num_simulations = kNumNodes - 1;
  options.discount = 0.9;
  return options;
}

std::shared_ptr<StochasticMuZeroNetwork> RandomNetwork() {
  auto network = StochasticMuZeroNetwork::Create(Options().model, Options().shape, 7).value();
  const torch::NoGradGuard no_grad;
  torch::manual_seed(8);
  for (at::Tensor& weight : network->parameters()) weight.add_(torch::randn_like(weight), 0.3);
  return network;
}

const std::vector<float> kObservations = {0.1f, -0.5f, 1.0f, 0.3f, -1.2f, 0.7f};
const std::vector<uint8_t> kLegal(kNumActions, 1);

std::vector<Root> MakeRoots() {
  std::vector<Root> roots;
  for (int e = 0; e < kNumEnvs; ++e) {
    Root root;
    root.env = EnvId(e);
    root.observations = absl::MakeConstSpan(kObservations).subspan(2 * e, 2);
    root.legal_action_mask = kLegal;
    roots.push_back(root);
  }
  return roots;
}

void ExpectLogits(const at::Tensor& expected, const float* row) {
  for (int64_t i = 0; i < kNumOutcomes; ++i) {
    if (i < expected.size(1)) {
      EXPECT_NEAR(row[i], expected[0][i].item<float>(), 1e-4f);
    } else {
      EXPECT_EQ(row[i], -kInf);
    }
  }
}

TEST(StochasticMuZeroInference, NodesTakeTurnsAlongEveryPath) {
  const auto network = RandomNetwork();
  auto engine = MakeStochasticMuZeroEngine(Options()).value();
  EXPECT_EQ(engine->num_chance_outcomes(), kNumOutcomes);
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*network)).ok());
  const std::vector<Root> roots = MakeRoots();
  std::vector<float> logits(kNumEnvs * kNumOutcomes), values(kNumEnvs), rewards(kNumEnvs),
      discounts(kNumEnvs);
  ASSERT_TRUE(engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  const torch::NoGradGuard no_grad;
  struct Node {
    at::Tensor latent;
    bool is_afterstate;
  };
  std::vector<std::vector<Node>> nodes(kNumEnvs);
  for (int e = 0; e < kNumEnvs; ++e) {
    nodes[e].push_back(
        {network->Represent(torch::tensor({{kObservations[2 * e], kObservations[2 * e + 1]}})),
         false});
    ExpectLogits(network->PolicyLogits(nodes[e][0].latent), logits.data() + e * kNumOutcomes);
  }
  const auto value_of = [&](const at::Tensor& l) { return network->DecodeValues(l).item<float>(); };
  RandomStream random(3, "paths");
  for (int n = 1; n < kNumNodes; ++n) {
    std::vector<NodeId> parents, children(kNumEnvs, NodeId(n));
    std::vector<int32_t> edges;
    for (int e = 0; e < kNumEnvs; ++e) {
      parents.push_back(NodeId(random.UniformInt(n)));
      const bool chance = nodes[e][parents[e].value].is_afterstate;
      edges.push_back(static_cast<int32_t>(random.UniformInt(chance ? kNumOutcomes : kNumActions)));
    }
    ASSERT_TRUE(engine
                    ->RecurrentInference(parents, edges, children, absl::MakeSpan(rewards),
                                         absl::MakeSpan(discounts), absl::MakeSpan(values),
                                         absl::MakeSpan(logits))
                    .ok());
    for (int e = 0; e < kNumEnvs; ++e) {
      const Node& parent = nodes[e][parents[e].value];
      const at::Tensor edge = torch::tensor({edges[e]});
      const float* row = logits.data() + e * kNumOutcomes;
      if (!parent.is_afterstate) {
        const at::Tensor latent = network->Afterstates(parent.latent, edge);
        EXPECT_EQ(rewards[e], 0.0f);
        EXPECT_EQ(discounts[e], 1.0f);
        EXPECT_NEAR(values[e], value_of(network->AfterstateValueLogits(latent)), 1e-4f);
        ExpectLogits(network->ChanceLogits(latent), row);
        nodes[e].push_back({latent, true});
        continue;
      }
      const at::Tensor latent = network->LatentsAfterChance(parent.latent, edge);
      EXPECT_NEAR(rewards[e], network->DecodeRewards(network->RewardLogits(latent)).item<float>(),
                  1e-4f);
      EXPECT_FLOAT_EQ(discounts[e], 0.9f);
      EXPECT_NEAR(values[e], value_of(network->ValueLogits(latent)), 1e-4f);
      ExpectLogits(network->PolicyLogits(latent), row);
      nodes[e].push_back({latent, false});
    }
  }
}

TEST(StochasticMuZeroInference, ASearchRunsThroughIt) {
  auto engine = MakeStochasticMuZeroEngine(Options()).value();
  ASSERT_TRUE(engine->CopyWeightsFrom(NetworkWeights(*RandomNetwork())).ok());
  auto search = Search::Create(Options().search, kNumActions, kNumEnvs, kNumOutcomes).value();
  SearchResult result;
  const absl::Status status = search->Run(*engine, MakeRoots(), {}, &result);
  ASSERT_TRUE(status.ok()) << status;
  int visits = 0;
  for (const int32_t count : result.visit_counts) visits += count;
  EXPECT_EQ(visits, kNumEnvs * (kNumNodes - 1));
  EXPECT_GT(StochasticMuZeroEngineBytes(Options()).value(), 0);
}

}  // namespace
}  // namespace lzero::stochastic_muzero_inference_test
