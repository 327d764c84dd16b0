// Selection at one hand-made node. Whole trees are compared in golden_test.cc and
// search_reference_test.cc.
#include "lzero/mcts/tree/select.h"

#include <optional>
#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/lanes/one_lane.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/tree/simulate.h"
#include "lzero/mcts/tree/tree.h"

namespace lzero::select_test {
namespace {

class SelectTest : public testing::Test {
 protected:
  static constexpr int kActions = 3;

  SelectTest() : tree_(1, 2, kActions), scores_(4) {
    const float logits[kActions] = {};
    ExpandNode(OneLane(), tree_.view(), 0, 1, {-1, -1, -1, 0}, {.prior_logits = logits});
    OpenNode(OneLane(), tree_.At(0, 1), 4);
    tree_.At(0, 1).record->parent = 0;
    tree_.At(0, 1).record->discount = 1.0f;
    tree_.root(0) = {.min_q = -1.0f, .max_q = 1.0f, .env = 0, .num_legal = 3, .tie_key = 1};
    config_.num_simulations = 50;
  }

  // Sets the node: [A] priors, Q and visits, and the network's value.
  void Fill(std::vector<float> priors, std::vector<float> q, std::vector<int> visits, float value) {
    NodeRecord& record = *node().record;
    record.visits = 1;
    record.num_actions = kActions;
    record.value = value;
    for (size_t a = 0; a < kActions; ++a) {
      node().prior[a] = priors[a];
      node().q[a] = q[a];
      node().visits[a] = visits[a];
      record.visits += visits[a];
      record.num_children += visits[a] > 0;
      record.q_sum += q[a];
    }
    node().prior[kActions] = config_.policy == SearchPolicy::kPuct ? kNoPrior : 0.0f;
  }

  Node node() const { return tree_.At(0, 1); }
  SelectContext Context(bool first_of_ties = true) {
    rules_.emplace(config_, kActions);
    return {&rules_->view(),
            &tree_.root(0),
            kActions,
            4,
            first_of_ties,
            /*has_noise=*/true,
            scores_.data(),
            TreeMinMaxScale(rules_->view(), tree_.root(0))};
  }

  Tree tree_;
  std::vector<float> scores_;
  SearchConfig config_;
  std::optional<SearchRules> rules_;
};

TEST_F(SelectTest, PuctAddsNormalisedQAndExploration) {
  Fill({0.2f, 0.3f, 0.5f}, {0.5f, -0.5f, 0.0f}, {2, 1, 0}, 0.0f);
  float fpu = 1.0f;
  const int action = SelectPuct(OneLane(), Context(), node(), 1, &fpu);
  // First-play urgency (1 + 0.5 - 0.5) / 3; the range -1 .. 1 maps to 0 .. 1; sqrt(4) * (1.25 +
  // ln(19657 / 19652)).
  const double exploration = 2.0 * (1.25 + 2.5439e-4);
  EXPECT_NEAR(fpu, 1.0 / 3.0, 1e-6);
  EXPECT_NEAR(scores_[0], 0.75 + exploration * 0.2 / 3.0, 1e-5);
  EXPECT_NEAR(scores_[1], 0.25 + exploration * 0.3 / 2.0, 1e-5);
  EXPECT_NEAR(scores_[2], 2.0 / 3.0 + exploration * 0.5, 1e-5);
  EXPECT_EQ(scores_[3], -kInfinity);
  EXPECT_EQ(action, 2);
}

TEST_F(SelectTest, AnUnvisitedActionMayBeFarBetterThanAllVisitedOnes) {
  // Values of -1000 and 1000, times 51 * 0.1: exponentials of the difference would overflow.
  config_.policy = SearchPolicy::kGumbel;
  config_.q_transform = QTransform::kCompletedByMixValue;
  config_.rescale_values = false;
  config_.use_mixed_value = false;
  Fill({0.5f, 0.2f, 0.3f}, {-1000.0f, 0.0f, 0.0f}, {1, 0, 0}, 1000.0f);
  EXPECT_EQ(SelectGumbelInterior(OneLane(), Context(), node(), 1), 2);
  Fill({0.5f, 0.2f, 0.3f}, {1000.0f, 0.0f, 0.0f}, {1, 0, 0}, -1000.0f);
  EXPECT_EQ(SelectGumbelInterior(OneLane(), Context(), node(), 1), 0);
}

TEST_F(SelectTest, PaddingIsNoActionWhereAllHaveTheSameQ) {
  // The range of Q is epsilon, 1e-8: the network's value lies far above the peak, for padding
  // alone.
  config_.policy = SearchPolicy::kGumbel;
  config_.q_transform = QTransform::kCompletedByMixValue;
  for (float value = 0.01f; value < 4.0f; value += 0.01f) {
    node().record->num_children = 0;
    Fill({0.2f, 0.3f, 0.5f}, {0.0f, 0.0f, 0.0f}, {1, 1, 1}, value);
    EXPECT_EQ(SelectGumbelInterior(OneLane(), Context(), node(), 1), 2) << value;
    EXPECT_NEAR(scores_[0], -0.2, 1e-6) << value << ": 4 P - 1";
    EXPECT_NEAR(scores_[2], 1.0, 1e-6) << value;
  }
}

TEST_F(SelectTest, DrawnTiesAreAmongTheBestAndReachAllOfThem) {
  std::vector<int> counts(kActions, 0);
  for (uint64_t key = 0; key < 300; ++key) {
    Fill({0.25f, 0.5f, 0.5f}, {0.0f, 0.0f, 0.0f}, {0, 0, 0}, 0.0f);
    tree_.root(0).tie_key = key;
    float fpu = 0.0f;
    ++counts[static_cast<size_t>(SelectPuct(OneLane(), Context(false), node(), 1, &fpu))];
  }
  EXPECT_EQ(counts[0], 0);
  EXPECT_NEAR(counts[1], 150, 40);  // standard deviation 8.7
  EXPECT_NEAR(counts[2], 150, 40);
}

}  // namespace
}  // namespace lzero::select_test
