// A whole search on the packed runner - roots continued and rebuilt, every simulation, the result -
// allocates nothing once it is warm, and its cache stays where it is.
#include "gtest/gtest.h"
#include "lzero/base/rng.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/inference/tensor/network_weights.h"
#include "lzero/mcts/search.h"
#include "tests/family/unizero/any_engine.h"
#include "tests/family/unizero/runners/random_model.h"
#include "tests/support/torch/counted_allocations.h"

namespace lzero::search_allocation_test {
namespace {

constexpr int kNumEnvs = 5;
constexpr int kNumActions = 3;
constexpr int kObservationSize = 4;
constexpr int kNumSimulations = 20;
constexpr int kNumPast = 7;

// Roots of a long episode: their pasts are full, and every search is one step further.
class Episodes {
 public:
  Episodes() : observations_((kNumPast + 1) * kObservationSize), actions_(kNumPast) {
    RandomStream random(3, "episodes");
    for (float& number : observations_) number = static_cast<float>(random.Normal());
    for (int32_t& action : actions_) action = static_cast<int32_t>(random.UniformInt(kNumActions));
    for (int env = 0; env < kNumEnvs; ++env) {
      Root root;
      root.env = EnvId(env);
      root.observations = observations_;
      root.actions = actions_;
      root.step = kNumPast;
      root.legal_action_mask = legal_;
      roots_.push_back(root);
    }
  }

  // Even steps go on; at odd ones the contexts of some environments are missing.
  absl::Span<const Root> Next(UniZeroInference& engine) {
    for (Root& root : roots_) {
      ++root.step;
      if (root.step % 2 == 1 && root.env.value % 2 == 0) engine.EndEpisode(root.env);
    }
    return roots_;
  }

 private:
  std::vector<float> observations_;
  std::vector<int32_t> actions_;
  std::vector<uint8_t> legal_ = std::vector<uint8_t>(kNumActions, 1);
  std::vector<Root> roots_;
};

class SearchAllocation : public testing::TestWithParam<SearchPolicy> {};

TEST_P(SearchAllocation, AWarmSearchAllocatesNothing) {
  CountTorchAllocations();
  EngineOptions options;
  options.model.embed_dim = 32;
  options.shape = {{kObservationSize}, kNumActions};
  options.num_envs = kNumEnvs;
  options.search.num_simulations = kNumSimulations;
  auto engine = AnyUniZero(options).value();
  ASSERT_TRUE(
      engine->CopyWeightsFrom(NetworkWeights(*RandomModel(options.model, options.shape, 1))).ok());
  SearchConfig config;
  config.policy = GetParam();
  config.num_simulations = kNumSimulations;
  const auto search = Search::Create(config, kNumActions, kNumEnvs).value();
  Episodes episodes;
  SearchRequest request;
  request.add_noise = true;
  SearchResult result;
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(search->Run(*engine, episodes.Next(*engine), request, &result).ok());
  }
  const RootStats warm = engine->root_stats();
  const void* address = engine->cache().storage_address();
  const int64_t before = NumAllocations();
  bool all_fine = true;
  for (int i = 0; i < 50; ++i) {  // 1,000 simulations
    request.search_index = static_cast<uint64_t>(i);
    all_fine = search->Run(*engine, episodes.Next(*engine), request, &result).ok() && all_fine;
  }
  EXPECT_EQ(NumAllocations() - before, 0);
  EXPECT_TRUE(all_fine);
  EXPECT_EQ(engine->cache().storage_address(), address);
  EXPECT_GT(engine->root_stats().rebuilt, warm.rebuilt);
  EXPECT_GT(engine->root_stats().continued, warm.continued);
}

INSTANTIATE_TEST_SUITE_P(Policies, SearchAllocation,
                         testing::Values(SearchPolicy::kPuct, SearchPolicy::kGumbel));

}  // namespace
}  // namespace lzero::search_allocation_test
