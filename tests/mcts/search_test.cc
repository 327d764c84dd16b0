#include "lzero/mcts/search.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/mcts/search_testing.h"

namespace lzero::search_test {
namespace {

struct Case {
  SearchPolicy policy;
  int num_actions;
  int num_simulations;
  bool noisy = false;  // noise, drawn ties, illegal actions, two players
  int max_depth = 0;
};

struct Outcome {
  SearchResult result;
  std::vector<std::vector<int32_t>> parents;  // [B][N]
};

SearchConfig ConfigOf(const Case& c) {
  SearchConfig config;
  config.policy = c.policy;
  config.num_simulations = c.num_simulations;
  if (c.max_depth > 0) config.max_depth = c.max_depth;
  return config;
}

HashModelOptions ModelOf(const Case& c) {
  HashModelOptions options;
  options.num_actions = c.num_actions;
  options.seed = 77;
  options.discount = c.noisy ? -1.0f : 0.997f;
  options.logit_scale = c.noisy ? 0.0f : 2.0f;  // ties everywhere
  return options;
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const bool noisy : {false, true}) {
      for (const int actions : {1, 2, 5, 18}) cases.push_back({policy, actions, 40, noisy});
      cases.push_back({policy, 362, 60, noisy});
      cases.push_back({policy, 4, 1000, noisy});
      cases.push_back({policy, 7, 1, noisy});
      cases.push_back({policy, 3, 50, noisy, 2});
    }
  }
  return cases;
}

void FillMasks(const Case& c, RootBatch* batch) {
  if (!c.noisy) return;
  for (size_t b = 0; b < batch->roots().size(); ++b) {
    auto& mask = batch->mask(static_cast<int>(b));
    for (size_t a = 0; a + 1 < mask.size(); a += 2 + b) mask[a] = 0;
  }
}

SearchRequest RequestOf(const Case& c) {
  SearchRequest request;
  request.add_noise = c.noisy;
  request.deterministic_ties = !c.noisy;
  request.seed = 3;
  request.search_index = 4;
  return request;
}

void CheckTree(const Case& c, const Tree& tree, int b, const std::vector<uint8_t>& mask) {
  for (int n = 0; n < tree.num_nodes(); ++n) {
    if (!tree.IsExpanded(b, n)) {
      EXPECT_GT(c.max_depth, 0) << "only a depth limit leaves nodes out";
      continue;
    }
    const int depth = tree.depth(b, n);
    int sum = 1;  // the expansion of the node itself
    for (int a = 0; a < c.num_actions; ++a) {
      const int visits = tree.visit_count(b, n, a);
      const int child = tree.child(b, n, a);
      sum += visits;
      ASSERT_EQ(visits > 0, child >= 0);
      if (child < 0) continue;
      ASSERT_EQ(tree.node_visits(b, child), visits);
      ASSERT_EQ(tree.parent(b, child), n);
      ASSERT_EQ(tree.action_from_parent(b, child), a);
      ASSERT_GT(child, n) << "nodes are numbered by expansion";
      if (n == 0) {
        ASSERT_NE(mask[static_cast<size_t>(a)], 0) << "illegal action visited";
      }
    }
    if (c.max_depth > 0) {
      ASSERT_LE(depth, c.max_depth);
    }
    if (c.max_depth == 0 || depth < c.max_depth) {
      ASSERT_EQ(tree.node_visits(b, n), sum);
    }
  }
}

TEST(SearchTest, VisitsAddUpInEveryNode) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(testing::Message() << "policy " << static_cast<int>(c.policy) << " actions "
                                    << c.num_actions << " simulations " << c.num_simulations
                                    << " noisy " << c.noisy << " depth " << c.max_depth);
    const auto search = MakeSearch(ConfigOf(c), c.num_actions, 3);
    HashModel model(ModelOf(c));
    RootBatch batch(3, c.num_actions);
    FillMasks(c, &batch);
    SearchResult result;
    ASSERT_TRUE(search->Run(model, batch.roots(), RequestOf(c), &result).ok());
    for (int b = 0; b < 3; ++b) {
      const auto first = result.visit_counts.begin() + b * c.num_actions;
      EXPECT_EQ(std::accumulate(first, first + c.num_actions, 0), c.num_simulations);
      const auto weights = result.action_weights.begin() + b * c.num_actions;
      EXPECT_NEAR(std::accumulate(weights, weights + c.num_actions, 0.0), 1.0, 1e-5);
      const int best = result.best_actions[static_cast<size_t>(b)];
      EXPECT_NE(batch.mask(b)[static_cast<size_t>(best)], 0);
      EXPECT_EQ(first[best], *std::max_element(first, first + c.num_actions));
      for (int a = 0; a < c.num_actions; ++a) {
        if (!batch.mask(b)[static_cast<size_t>(a)]) {
          EXPECT_EQ(weights[a], 0.0f);
        }
      }
      CheckTree(c, search->tree(), b, batch.mask(b));
    }
  }
}

// Row `row` against its root searched alone, with a fresh search.
void ExpectSameAlone(const Case& c, const SearchResult& together, size_t row, const Root& root) {
  const auto search = MakeSearch(ConfigOf(c), c.num_actions, 1);
  HashModel model(ModelOf(c));
  SearchResult alone;
  ASSERT_TRUE(search->Run(model, absl::MakeConstSpan(&root, 1), RequestOf(c), &alone).ok());
  const size_t width = static_cast<size_t>(c.num_actions);
  for (size_t a = 0; a < width; ++a) {
    ASSERT_EQ(together.visit_counts[row * width + a], alone.visit_counts[a]);
    ASSERT_EQ(together.action_weights[row * width + a], alone.action_weights[a]);
    ASSERT_EQ(together.q_values[row * width + a], alone.q_values[a]);
  }
  EXPECT_EQ(together.root_values[row], alone.root_values[0]);
  EXPECT_EQ(together.network_values[row], alone.network_values[0]);
  EXPECT_EQ(together.best_actions[row], alone.best_actions[0]);
}

TEST(SearchTest, ABatchEqualsItsRootsOneByOneBitForBit) {
  for (const Case& c : Cases()) {
    if (c.num_simulations > 100) continue;
    constexpr int kRoots = 7;
    const auto search = MakeSearch(ConfigOf(c), c.num_actions, 9);
    HashModel model(ModelOf(c));
    RootBatch batch(kRoots, c.num_actions);
    FillMasks(c, &batch);
    SearchResult together;
    // The second search of the same object: nothing is left over from the first.
    for (int i = 0; i < 2; ++i) {
      ASSERT_TRUE(search->Run(model, batch.roots(), RequestOf(c), &together).ok());
    }
    for (size_t b = 0; b < kRoots; ++b) ExpectSameAlone(c, together, b, batch.roots()[b]);
  }
}

TEST(SearchTest, DrawnTiesDependOnSeedSearchAndEnvironment) {
  const Case c = {SearchPolicy::kPuct, 6, 30, false};
  HashModelOptions options = ModelOf(c);
  options.logit_scale = 0.0f;
  options.value_scale = 0.0f;  // everything is equal: every choice is a tie
  HashModel model(options);
  const auto search = MakeSearch(ConfigOf(c), c.num_actions, 8);
  RootBatch batch(8, c.num_actions);
  const auto visits = [&](bool first, uint64_t seed, uint64_t index) {
    SearchRequest request;
    request.deterministic_ties = first;
    request.seed = seed;
    request.search_index = index;
    SearchResult result;
    EXPECT_TRUE(search->Run(model, batch.roots(), request, &result).ok());
    std::vector<int32_t> actions;
    for (int b = 0; b < 8; ++b) actions.push_back(search->tree().action_from_parent(b, 1));
    return actions;
  };
  EXPECT_EQ(visits(true, 1, 1), std::vector<int32_t>(8, 0)) << "first index";
  const auto drawn = visits(false, 1, 1);
  EXPECT_EQ(drawn, visits(false, 1, 1));
  EXPECT_NE(drawn, std::vector<int32_t>(8, drawn[0])) << "environments draw on their own";
  EXPECT_NE(drawn, visits(false, 2, 1));
  EXPECT_NE(drawn, visits(false, 1, 2));
}

// One action; the reward is +1 for the player who makes the last of five moves, players alternate.
class AlternatingGame final : public InferenceModel {
 public:
  int num_actions() const override { return 1; }
  absl::Status InitialInference(absl::Span<const Root> roots, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    step_ = roots[0].step;
    prior_logits[0] = value[0] = 0.0f;
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> /*actions*/,
                                  absl::Span<const NodeId> /*children*/, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const bool last = step_ + parents[0].value == 4;
    rewards[0] = last ? 1.0f : 0.0f;
    discounts[0] = step_ + parents[0].value >= 4 ? 0.0f : -1.0f;
    values[0] = prior_logits[0] = 0.0f;
    return absl::OkStatus();
  }

 private:
  int64_t step_ = 0;
};

TEST(SearchTest, SignsFollowThePlayerToMoveFromEveryRoot) {
  // Moves 0, 2, 4 belong to the player who wins. Each simulation goes one node deeper, so the
  // winning move is backed up by all walks from the one that reaches it.
  for (int64_t step = 0; step < 5; ++step) {
    SearchConfig config;
    config.num_simulations = 5 - step;
    const auto search = MakeSearch(config, 1, 1);
    RootBatch batch(1, 1);
    batch.roots()[0].step = step;
    AlternatingGame model;
    SearchResult result;
    ASSERT_TRUE(search->Run(model, batch.roots(), {}, &result).ok());
    const double sign = step % 2 == 0 ? 1.0 : -1.0;
    // Only the last of the simulations sees the reward; the mean is over them and the seed.
    EXPECT_NEAR(result.root_values[0], sign / (6.0 - static_cast<double>(step)), 1e-6) << step;
  }
}

TEST(SearchTest, NothingBehindATerminationCounts) {
  // All edges end the episode: Q is the reward alone.
  SearchConfig config;
  config.num_simulations = 30;
  const auto search = MakeSearch(config, 4, 1);
  HashModelOptions options;
  options.num_actions = 4;
  options.terminal_fraction = 1.0;
  HashModel model(options);
  RootBatch batch(1, 4);
  SearchResult result;
  ASSERT_TRUE(search->Run(model, batch.roots(), {}, &result).ok());
  for (int32_t a = 0; a < 4; ++a) {
    if (result.visit_counts[static_cast<size_t>(a)] == 0) continue;
    EXPECT_EQ(result.q_values[static_cast<size_t>(a)], model.Evaluate(EnvId(0), 0, {a}).reward);
  }
}

TEST(SearchTest, MeanDepthIsThatOfTheLeaves) {
  SearchConfig config;
  config.num_simulations = 4;
  const auto search = MakeSearch(config, 1, 1);
  HashModelOptions options;
  options.num_actions = 1;
  HashModel model(options);
  RootBatch batch(1, 1);
  SearchResult result;
  ASSERT_TRUE(search->Run(model, batch.roots(), {}, &result).ok());
  EXPECT_EQ(result.mean_depth, 2.5);  // 1, 2, 3, 4
}

TEST(SearchTest, NoRootsGiveAnEmptyResult) {
  const auto search = MakeSearch(SearchConfig(), 2, 4);
  HashModel model(HashModelOptions{});
  SearchResult result;
  ASSERT_TRUE(search->Run(model, {}, {}, &result).ok());
  EXPECT_EQ(result.num_roots, 0);
  EXPECT_TRUE(result.visit_counts.empty());
}

}  // namespace
}  // namespace lzero::search_test
