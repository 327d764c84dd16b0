// An engine whose search samples its actions: box actions reach the network, roots that continue a
// context equal roots that are rebuilt, and a sample of all discrete actions is the whole search.
#include <cmath>
#include <memory>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/family/unizero/runners/random_model.h"

namespace lzero::sampled_engine_test {
namespace {

constexpr int kNumEnvs = 3;
constexpr int kObservationSize = 2;

EngineOptions Options(Runner runner, const WorldModelShape& shape, std::optional<int64_t> sampled) {
  EngineOptions options;
  options.model.embed_dim = 16;
  options.model.encoder_width = 12;
  options.model.context_length = 6;
  options.model.support_size = 21;
  options.shape = shape;
  options.inference.runner = runner;
  options.num_envs = kNumEnvs;
  options.search.num_simulations = 12;
  options.search.num_sampled_actions = sampled;
  options.discount = 0.9;
  return options;
}

std::unique_ptr<UniZeroInference> MakeEngine(const EngineOptions& options) {
  auto engine = AnyUniZero(options).value();
  EXPECT_TRUE(
      engine->CopyWeightsFrom(NetworkWeights(*RandomModel(options.model, options.shape, 5))).ok());
  return engine;
}

// Episodes with numbers drawn from the seed, and the roots at their newest step.
class Episodes {
 public:
  Episodes(int action_dim, int num_actions)
      : action_dim_(action_dim), num_actions_(num_actions), legal_(num_actions, 1) {
    for (int e = 0; e < kNumEnvs; ++e) Observe(e);
  }
  void Step() {
    for (int e = 0; e < kNumEnvs; ++e) {
      actions_[e].push_back(
          num_actions_ > 0 ? static_cast<int32_t>(random_.UniformInt(num_actions_)) : 0);
      for (int d = 0; d < action_dim_; ++d) {
        values_[e].push_back(static_cast<float>(2.0 * random_.Uniform() - 1.0));
      }
      Observe(e);
    }
  }
  std::vector<Root> Roots() const {
    std::vector<Root> roots;
    for (int e = 0; e < kNumEnvs; ++e) {
      Root root;
      root.env = EnvId(e);
      root.observations = observations_[e];
      root.actions = actions_[e];
      root.action_values = values_[e];
      root.step = static_cast<int64_t>(actions_[e].size());
      root.legal_action_mask = legal_;
      roots.push_back(root);
    }
    return roots;
  }

 private:
  void Observe(int e) {
    for (int i = 0; i < kObservationSize; ++i) {
      observations_[e].push_back(static_cast<float>(random_.Normal()));
    }
  }
  int action_dim_, num_actions_;
  RandomStream random_{11, "episodes"};
  std::vector<uint8_t> legal_;
  std::vector<float> observations_[kNumEnvs], values_[kNumEnvs];
  std::vector<int32_t> actions_[kNumEnvs];
};

SearchResult RunSearch(UniZeroInference& engine, const SearchConfig& config,
                       const Episodes& episodes, uint64_t index) {
  auto search = Search::Create(config, engine.num_actions(), kNumEnvs).value();
  SearchRequest request;
  request.search_index = index;
  SearchResult result;
  EXPECT_TRUE(search->Run(engine, episodes.Roots(), request, &result).ok());
  return result;
}

void ExpectNear(const std::vector<float>& a, const std::vector<float>& b, float tolerance) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], tolerance) << i;
}

TEST(SampledEngine, BoxSearchesAgreeBetweenRunnersAndKindsOfRoots) {
  const WorldModelShape shape{{kObservationSize}, 0, 2};
  const EngineOptions eager_options = Options(Runner::kEager, shape, 5);
  auto packed = MakeEngine(Options(Runner::kPacked, shape, 5)), eager = MakeEngine(eager_options);
  auto rebuilding = MakeEngine(Options(Runner::kPacked, shape, 5));
  EXPECT_EQ(packed->num_actions(), 5);
  Episodes episodes(2, 0);
  std::vector<float> last;
  for (uint64_t step = 0; step < 8; ++step) {
    const SearchResult a = RunSearch(*packed, eager_options.search, episodes, step);
    const SearchResult b = RunSearch(*eager, eager_options.search, episodes, step);
    rebuilding->cache().Reset();
    const SearchResult c = RunSearch(*rebuilding, eager_options.search, episodes, step);
    EXPECT_EQ(a.visit_counts, b.visit_counts);
    EXPECT_EQ(a.visit_counts, c.visit_counts);
    ExpectNear(a.root_values, b.root_values, 1e-3f);
    ExpectNear(a.root_values, c.root_values, 1e-3f);
    ExpectNear(packed->sampled_actions()->values, eager->sampled_actions()->values, 1e-4f);
    ExpectNear(packed->sampled_actions()->values, rebuilding->sampled_actions()->values, 1e-4f);
    EXPECT_NE(a.root_values, last);
    last = a.root_values;
    episodes.Step();
  }
  EXPECT_GT(packed->root_stats().continued, 0);
  EXPECT_EQ(rebuilding->root_stats().continued, 0);
}

// The reward of the step from the root depends on the number that the slot stands for.
TEST(SampledEngine, TheNetworkReadsTheValuesOfTheSlot) {
  const WorldModelShape shape{{kObservationSize}, 0, 2};
  auto engine = MakeEngine(Options(Runner::kPacked, shape, 4));
  const Episodes episodes(2, 0);
  const std::vector<Root> roots = episodes.Roots();
  engine->BeginSearch({});
  std::vector<float> logits(kNumEnvs * 4), values(kNumEnvs), rewards(kNumEnvs), discounts(kNumEnvs);
  ASSERT_TRUE(engine->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)).ok());
  const std::vector<float> sampled = engine->sampled_actions()->values;  // [3, 4, 2]
  const auto model = RandomModel(Options(Runner::kEager, shape, 4).model, shape, 5);
  for (int32_t slot = 0; slot < 4; ++slot) {
    const std::vector<NodeId> parents(kNumEnvs, kRootNode), children(kNumEnvs, NodeId(slot + 1));
    const std::vector<int32_t> actions(kNumEnvs, slot);
    ASSERT_TRUE(engine
                    ->RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                         absl::MakeSpan(discounts), absl::MakeSpan(values),
                                         absl::MakeSpan(logits))
                    .ok());
    const torch::NoGradGuard no_grad;
    for (int e = 0; e < kNumEnvs; ++e) {
      // A full pass over the two tokens.
      const at::Tensor latent =
          model->Encode(torch::tensor({{roots[e].observations[0], roots[e].observations[1]}}));
      const float* action = sampled.data() + (e * 4 + slot) * 2;
      const at::Tensor tokens =
          model->MakeTokens(latent.unsqueeze(0), torch::tensor({{{action[0], action[1]}}}));
      const at::Tensor y = model->transformer().Forward(tokens, {}, nullptr).select(1, 1);
      EXPECT_NEAR(rewards[e], model->DecodeRewards(model->RewardLogits(y)).item<float>(), 1e-3);
    }
  }
}

TEST(SampledEngine, AllDiscreteActionsAreTheWholeSearch) {
  const WorldModelShape shape{{kObservationSize}, 4, 0};
  const EngineOptions whole = Options(Runner::kPacked, shape, std::nullopt);
  auto plain = MakeEngine(whole), sampled = MakeEngine(Options(Runner::kPacked, shape, 4));
  Episodes episodes(0, 4);
  for (uint64_t step = 0; step < 4; ++step) {
    const SearchResult a = RunSearch(*plain, whole.search, episodes, step);
    const SearchResult b = RunSearch(*sampled, whole.search, episodes, step);
    EXPECT_EQ(a.visit_counts, b.visit_counts);
    EXPECT_EQ(a.root_values, b.root_values);
    EXPECT_EQ(a.action_weights, b.action_weights);
    episodes.Step();
  }
}

TEST(SampledEngine, PlannedBytesCountTheSampler) {
  const WorldModelShape shape{{kObservationSize}, 0, 2};
  const int64_t few = AnyUniZeroBytes(Options(Runner::kPacked, shape, 4));
  const int64_t more = AnyUniZeroBytes(Options(Runner::kPacked, shape, 9));
  // 5 more slots of 2 floats for each of 13 nodes and the roots, and 5 bytes of mask.
  EXPECT_EQ(more - few, kNumEnvs * 5 * (14 * 2 * 4 + 1));
}

}  // namespace
}  // namespace lzero::sampled_engine_test
