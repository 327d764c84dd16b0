// Searches whose trees have chance nodes. Whole trees are compared with a second implementation in
// search_reference_test.cc.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "tests/mcts/same_trees.h"
#include "tests/mcts/search_testing.h"

namespace lzero::chance_search_test {
namespace {

struct Case {
  SearchPolicy policy;
  int num_actions;
  int num_outcomes;
  int max_depth = 0;
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    for (const auto& [actions, outcomes] :
         {std::pair(2, 2), {4, 32}, {18, 3}, {1, 5}, {5, 1}, {3, 4}}) {
      cases.push_back({policy, actions, outcomes});
      cases.push_back({policy, actions, outcomes, 3});
    }
  }
  return cases;
}

class ChanceSearch {
 public:
  ChanceSearch(const Case& c, int num_roots, double illegal_fraction)
      : model_({.seed = 5,
                .num_actions = c.num_actions,
                .discount = -1.0f,
                .logit_scale = 1.0f,
                .illegal_fraction = illegal_fraction,
                .num_chance_outcomes = c.num_outcomes}),
        batch_(num_roots, c.num_actions) {
    SearchConfig config;
    config.policy = c.policy;
    config.num_simulations = 150;
    if (c.max_depth > 0) config.max_depth = c.max_depth;
    search_ = MakeSearch(config, c.num_actions, num_roots, c.num_outcomes);
    for (int b = 0; b < num_roots && c.num_actions > 2; ++b) {
      batch_.mask(b)[static_cast<size_t>(b) % 2] = 0;
    }
  }

  SearchResult Run(absl::Span<const Root> roots) {
    SearchRequest request;
    request.add_noise = true;
    request.deterministic_ties = false;
    request.search_index = 3;
    SearchResult result;
    const absl::Status status = search_->Run(model_, roots, request, &result);
    EXPECT_TRUE(status.ok()) << status;
    return result;
  }
  SearchResult Run() { return Run(batch_.roots()); }

  const Tree& tree() const { return search_->tree(); }
  RootBatch& batch() { return batch_; }

 private:
  HashModel model_;
  RootBatch batch_;
  std::unique_ptr<Search> search_;
};

// Nodes of even depth have actions, those of odd depth outcomes, visited by their probabilities.
void CheckNode(const Case& c, const Tree& tree, int b, int n) {
  const int depth = tree.depth(b, n);
  const bool is_chance = depth % 2 == 1;
  int num_visits = 0;
  for (int a = 0; a < tree.num_actions(); ++a) {
    const int visits = tree.visit_count(b, n, a);
    num_visits += visits;
    ASSERT_TRUE(visits == 0 || tree.prior(b, n, a) > 0.0f) << "an action that is not there";
    if (a >= (is_chance ? c.num_outcomes : c.num_actions)) {
      ASSERT_EQ(visits, 0);
    }
  }
  if (c.max_depth > 0) {
    ASSERT_LE(depth, c.max_depth);
  }
  if (depth != c.max_depth) {
    ASSERT_EQ(tree.node_visits(b, n), num_visits + 1);
  }
  if (!is_chance) return;
  for (int a = 0; a < c.num_outcomes; ++a) {
    const double expected = static_cast<double>(tree.prior(b, n, a)) * num_visits;
    const double most =
        static_cast<double>(tree.prior(b, n, a)) * (num_visits + c.num_outcomes - 1);
    // D'Hondt's quotients: never below the whole part of the quota, and this much above at most.
    ASSERT_GE(tree.visit_count(b, n, a), std::floor(expected - 1e-3));
    ASSERT_LE(tree.visit_count(b, n, a), most + 1e-3);
  }
}

TEST(ChanceSearchTest, DecisionsAndChanceAlternateAndOutcomesGetTheirShares) {
  for (const Case& c : Cases()) {
    for (const double illegal_fraction : {0.0, 0.4}) {
      SCOPED_TRACE(testing::Message()
                   << "policy " << static_cast<int>(c.policy) << " actions " << c.num_actions
                   << " outcomes " << c.num_outcomes << " depth " << c.max_depth);
      ChanceSearch search(c, 3, illegal_fraction);
      const SearchResult result = search.Run();
      ASSERT_EQ(result.num_actions, c.num_actions);
      ASSERT_EQ(result.visit_counts.size(), 3u * static_cast<size_t>(c.num_actions));
      ASSERT_EQ(search.tree().num_actions(), std::max(c.num_actions, c.num_outcomes));
      for (int b = 0; b < 3; ++b) {
        const auto visits = result.visit_counts.begin() + b * c.num_actions;
        EXPECT_EQ(std::accumulate(visits, visits + c.num_actions, 0), 150);
        const auto weights = result.action_weights.begin() + b * c.num_actions;
        EXPECT_NEAR(std::accumulate(weights, weights + c.num_actions, 0.0), 1.0, 1e-5);
        EXPECT_GT(visits[result.best_actions[static_cast<size_t>(b)]], 0);
        for (int a = 0; a < c.num_actions; ++a) {
          ASSERT_EQ(visits[a], search.tree().visit_count(b, 0, a));
          if (search.batch().mask(b)[static_cast<size_t>(a)] == 0) {
            ASSERT_EQ(visits[a], 0);
          }
        }
        for (int n = 0; n < search.tree().num_nodes(); ++n) {
          if (search.tree().IsExpanded(b, n)) CheckNode(c, search.tree(), b, n);
        }
        if (testing::Test::HasFailure()) return;
      }
    }
  }
}

TEST(ChanceSearchTest, BatchedEqualsOneByOneAndAgain) {
  for (const Case& c : Cases()) {
    ChanceSearch together(c, 3, 0.2), again(c, 3, 0.2), alone(c, 3, 0.2);
    const SearchResult expected = together.Run();
    ExpectSameResults(expected, again.Run());
    ExpectSameTrees(together.tree().view(), again.tree().view(), 3, 151);
    const size_t width = static_cast<size_t>(c.num_actions);
    for (size_t b = 0; b < 3; ++b) {
      const SearchResult one = alone.Run(absl::MakeConstSpan(alone.batch().roots()).subspan(b, 1));
      EXPECT_EQ(one.root_values[0], expected.root_values[b]);
      EXPECT_EQ(one.best_actions[0], expected.best_actions[b]);
      EXPECT_TRUE(SameBits(one.visit_counts.data(), expected.visit_counts.data() + b * width,
                           static_cast<int64_t>(width)));
      EXPECT_TRUE(SameBits(one.q_values.data(), expected.q_values.data() + b * width,
                           static_cast<int64_t>(width)));
    }
  }
}

// Action 0 pays 4 with probability 1/4 and else nothing, action 1 pays 0.5 for sure: both in the
// step out of the chance node, after which the game is over.
class Lottery final : public InferenceModel {
 public:
  int num_actions() const override { return 2; }
  int num_chance_outcomes() const override { return 3; }
  absl::Status InitialInference(absl::Span<const Root>, absl::Span<float> prior_logits,
                                absl::Span<float> value) override {
    const float logits[] = {0.0f, 0.0f, -kInfinity};
    std::copy_n(logits, 3, prior_logits.begin());
    value[0] = 0.0f;
    actions_.assign(1, -1);
    return absl::OkStatus();
  }
  absl::Status RecurrentInference(absl::Span<const NodeId> parents,
                                  absl::Span<const int32_t> actions,
                                  absl::Span<const NodeId> children, absl::Span<float> rewards,
                                  absl::Span<float> discounts, absl::Span<float> values,
                                  absl::Span<float> prior_logits) override {
    const int32_t before = actions_[static_cast<size_t>(parents[0].value)];
    actions_.resize(static_cast<size_t>(children[0].value) + 1);
    const bool is_afterstate = before < 0;  // decisions are marked with -1
    actions_.back() = is_afterstate ? actions[0] : -1;
    values[0] = 0.0f;
    rewards[0] = is_afterstate ? 0.0f : before == 1 ? 0.5f : actions[0] == 2 ? 4.0f : 0.0f;
    discounts[0] = is_afterstate ? 1.0f : 0.0f;
    const float chance[] = {std::log(0.5f), std::log(0.25f), std::log(0.25f)};
    const float certain[] = {-kInfinity, 0.0f, -kInfinity};
    const float decision[] = {0.0f, 0.0f, -kInfinity};
    std::copy_n(!is_afterstate    ? decision
                : actions[0] == 0 ? chance
                                  : certain,
                3, prior_logits.begin());
    return absl::OkStatus();
  }

 private:
  std::vector<int32_t> actions_;  // [N] that led to an afterstate; -1: a decision
};

TEST(ChanceSearchTest, TheSearchFindsTheExpectation) {
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    SearchConfig config;
    config.policy = policy;
    config.num_simulations = 1000;
    const auto search = MakeSearch(config, 2, 1, 3);
    Lottery model;
    RootBatch batch(1, 2);
    SearchResult result;
    const absl::Status status = search->Run(model, batch.roots(), {}, &result);
    ASSERT_TRUE(status.ok()) << status;
    EXPECT_EQ(result.best_actions[0], 0);
    EXPECT_NEAR(result.q_values[0], 1.0f, 0.02f);
    EXPECT_NEAR(result.q_values[1], 0.5f, 0.02f);
    EXPECT_GE(result.visit_counts[0], result.visit_counts[1]);  // Gumbel halves two candidates
  }
}

TEST(ChanceSearchTest, NoiseIsThatOfTheActionsAlone) {
  // As wide as a tree without chance, and wider: the same noise at the root.
  for (const auto policy : {SearchPolicy::kPuct, SearchPolicy::kGumbel}) {
    std::vector<float> seen[2];
    for (const bool wide : {false, true}) {
      ChanceSearch search({policy, 5, wide ? 9 : 2}, 2, 0.0);
      search.Run();
      for (int a = 0; a < 5; ++a) {
        seen[wide].push_back(policy == SearchPolicy::kPuct
                                 ? search.tree().prior(1, 0, a)
                                 : search.tree().view().root_gumbel(1)[a]);
      }
    }
    EXPECT_EQ(seen[0], seen[1]);
  }
}

TEST(ChanceSearchTest, GivenGumbelNoiseHasARowOfActions) {
  SearchConfig config;
  config.policy = SearchPolicy::kGumbel;
  const auto search = MakeSearch(config, 3, 2, 9);
  HashModel model({.num_actions = 3, .num_chance_outcomes = 9});
  RootBatch batch(2, 3);
  const std::vector<float> gumbel = {100.0f, 0.0f, 0.0f, 0.0f, 0.0f, 100.0f};
  SearchRequest request;
  request.root_gumbel = gumbel;
  SearchResult result;
  ASSERT_TRUE(search->Run(model, batch.roots(), request, &result).ok());
  EXPECT_EQ(result.best_actions, (std::vector<int32_t>{0, 2}));
}

TEST(ChanceSearchTest, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(Search::Create(SearchConfig(), 2, 1, -1).status(),
            absl::InvalidArgumentError("a search of -1 chance outcomes; allowed: 0 or more"));
  RootBatch batch(1, 2);
  SearchResult result;
  HashModel model({.num_actions = 2, .num_chance_outcomes = 3});
  EXPECT_EQ(
      MakeSearch(SearchConfig(), 2, 1)->Run(model, batch.roots(), {}, &result),
      absl::InvalidArgumentError("the model has 3 chance outcomes, the search was made for 0"));
}

}  // namespace
}  // namespace lzero::chance_search_test
