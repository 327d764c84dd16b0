#include "lzero/mcts/tree/simulate.h"

#include <vector>

#include "gtest/gtest.h"
#include "lzero/base/lanes/one_lane.h"
#include "lzero/mcts/tree/tree.h"

namespace lzero::simulate_test {
namespace {

// A chain root -0-> 1 -1-> 2 with hand-made numbers.
class SimulateTest : public testing::Test {
 protected:
  SimulateTest() : tree_(1, 4, 2) {
    tree_.Begin(1, 4);
    tree_.root(0).min_q = kInfinity;
    tree_.root(0).max_q = -kInfinity;
    Expand(0, {-1, -1, -1, 0}, {0.0f, 0.0f, 0.5f, logits_});
    Open(0);
  }
  void Expand(int n, const Leaf& leaf, const NodeOutputs& outputs) {
    ExpandNode(OneLane(), tree_.view(), 0, n, leaf, outputs);
  }
  void Open(int n) {
    OpenNode(OneLane(), tree_.At(0, n), tree_.padded_actions());
    MakeReady(OneLane(), tree_.At(0, n), 4, kNoPrior);
  }

  Tree tree_;
  float logits_[2] = {0.0f, 0.0f};
};

TEST_F(SimulateTest, BackUpAddsDiscountedReturnsAlongThePath) {
  Expand(1, {0, 0, -1, 1}, {1.0f, 0.5f, 4.0f, logits_});
  BackUp(tree_.view(), 0, 1);
  // Root: seeded with 0.5, then 1 + 0.5 * 4 = 3.
  EXPECT_EQ(tree_.value(0, 0), (0.5 + 3.0) / 2);
  EXPECT_EQ(tree_.q_value(0, 0, 0), 3.0);
  Open(1);
  Expand(2, {1, 1, -1, 2}, {-1.0f, -1.0f, 2.0f, logits_});
  BackUp(tree_.view(), 0, 2);
  // Node 1: -1 - 2 = -3, mean (4 - 3) / 2; root: 1 + 0.5 * -3 = -0.5.
  EXPECT_EQ(tree_.value(0, 1), 0.5);
  EXPECT_EQ(tree_.value(0, 0), (0.5 + 3.0 - 0.5) / 3);
  EXPECT_EQ(tree_.q_value(0, 1, 1), -3.0);
  EXPECT_EQ(tree_.q_value(0, 0, 0), 1.0 + 0.5 * 0.5);
  EXPECT_EQ(tree_.visit_count(0, 0, 0), 2);
  EXPECT_EQ(tree_.visit_count(0, 1, 1), 1);
  EXPECT_EQ(tree_.node_visits(0, 0), 3);
  EXPECT_EQ(tree_.At(0, 0).record->num_children, 1);
  EXPECT_EQ(tree_.depth(0, 2), 2);
  // The range holds every Q there ever was, also the root's first one.
  EXPECT_EQ(tree_.root(0).min_q, -3.0f);
  EXPECT_EQ(tree_.root(0).max_q, 3.0f);
}

TEST_F(SimulateTest, RevisitKeepsTheMeanOfTheNetworkValue) {
  Expand(1, {0, 1, -1, 1}, {1.0f, 0.0f, 4.0f, logits_});
  BackUp(tree_.view(), 0, 1);
  RevisitNode(tree_.At(0, 1));
  BackUp(tree_.view(), 0, 1);
  EXPECT_EQ(tree_.node_visits(0, 1), 2);
  EXPECT_EQ(tree_.value(0, 1), 4.0);
  EXPECT_EQ(tree_.visit_count(0, 0, 1), 2);
  EXPECT_EQ(tree_.q_value(0, 0, 1), 1.0);  // discount 0: the episode ended there
}

TEST(MakeReadyTest, PriorIsTheSoftmaxAndPaddingIsFilled) {
  Tree tree(1, 1, 3);
  const float logits[3] = {1.0f, 1.0f + 0.6931472f, 1.0f};  // 1 : 2 : 1
  ExpandNode(OneLane(), tree.view(), 0, 0, {-1, -1, -1, 0}, {.prior_logits = logits});
  OpenNode(OneLane(), tree.At(0, 0), 4);
  MakeReady(OneLane(), tree.At(0, 0), 4, kNoPrior);
  EXPECT_NEAR(tree.prior(0, 0, 0), 0.25, 1e-6);
  EXPECT_NEAR(tree.prior(0, 0, 1), 0.5, 1e-6);
  EXPECT_NEAR(tree.prior(0, 0, 2), 0.25, 1e-6);
  EXPECT_EQ(tree.At(0, 0).prior[3], kNoPrior);
  EXPECT_EQ(tree.At(0, 0).child[3], -1);
}

TEST(MakeReadyTest, ActionsThatTheNodeLacksHaveNoPriorAndDoNotCount) {
  for (const float missing : {kNoPrior, 0.0f}) {
    Tree tree(1, 1, 6);
    const float logits[6] = {-kInfinity, 1.0f, -kInfinity, -1e30f, 1.0f, -kInfinity};
    ExpandNode(OneLane(), tree.view(), 0, 0, {-1, -1, -1, 0}, {.prior_logits = logits});
    EXPECT_EQ(tree.prior(0, 0, 0), 0.0f);
    EXPECT_EQ(tree.prior(0, 0, 1), 0.5f);
    OpenNode(OneLane(), tree.At(0, 0), 8);
    EXPECT_EQ(tree.At(0, 0).record->state(), NodeState::kOpened);
    MakeReady(OneLane(), tree.At(0, 0), 8, missing);
    EXPECT_EQ(tree.At(0, 0).record->state(), NodeState::kReady);
    EXPECT_EQ(tree.At(0, 0).record->num_actions, 3);
    for (const int a : {0, 2, 5, 6, 7}) EXPECT_EQ(tree.At(0, 0).prior[a], missing) << a;
    for (const int a : {0, 2, 5}) EXPECT_EQ(tree.prior(0, 0, a), 0.0f) << a;
    EXPECT_EQ(tree.prior(0, 0, 1), 0.5f);
    EXPECT_EQ(tree.prior(0, 0, 4), 0.5f);
    EXPECT_GT(tree.prior(0, 0, 3), 0.0f) << "unlikely, and still there";
  }
}

TEST(MakeReadyTest, ExtremeLogitsStayFinite) {
  Tree tree(1, 1, 2);
  const float logits[2] = {3e38f, -3e38f};
  ExpandNode(OneLane(), tree.view(), 0, 0, {-1, -1, -1, 0}, {.prior_logits = logits});
  OpenNode(OneLane(), tree.At(0, 0), 4);
  MakeReady(OneLane(), tree.At(0, 0), 4, 0.0f);
  EXPECT_EQ(tree.prior(0, 0, 0), 1.0f);
  EXPECT_GT(tree.prior(0, 0, 1), 0.0f);
  EXPECT_LT(tree.prior(0, 0, 1), 1e-29f);
}

}  // namespace
}  // namespace lzero::simulate_test
