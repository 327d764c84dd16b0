#include "lzero/mcts/tree/tree.h"

#include "gtest/gtest.h"
#include "lzero/base/lanes/one_lane.h"
#include "lzero/mcts/tree/simulate.h"

namespace lzero::tree_test {
namespace {

TEST(TreeTest, NodesOfDifferentRootsDoNotOverlap) {
  constexpr int kRoots = 3;
  constexpr int kNodes = 5;
  constexpr int kActions = 6;  // padded to 8
  Tree tree(kRoots, kNodes, kActions);
  EXPECT_EQ(tree.padded_actions(), 8);
  EXPECT_EQ(tree.num_bytes(), Tree::NumBytes(kRoots, kNodes, kActions));
  const float logits[kActions] = {};
  for (int b = 0; b < kRoots; ++b) {
    for (int n = 0; n < kNodes; ++n) {
      ExpandNode(OneLane(), tree.view(), b, n, {-1, -1, -1, 0},
                 {.value = static_cast<float>(10 * b + n), .prior_logits = logits});
      OpenNode(OneLane(), tree.At(b, n), tree.padded_actions());
      for (int a = 0; a < tree.padded_actions(); ++a) tree.At(b, n).child[a] = 100 * b + 10 * n + a;
    }
    tree.root(b).env = b;
    for (int a = 0; a < tree.padded_actions(); ++a)
      tree.view().root_logits(b)[a] = tree.view().root_gumbel(b)[a] = 1;
  }
  for (int b = 0; b < kRoots; ++b) {
    EXPECT_EQ(tree.root(b).env, b);
    for (int n = 0; n < kNodes; ++n) {
      EXPECT_EQ(tree.network_value(b, n), 10 * b + n);
      for (int a = 0; a < kActions; ++a) {
        EXPECT_EQ(tree.child(b, n, a), 100 * b + 10 * n + a);
        EXPECT_EQ(tree.visit_count(b, n, a), 0);
      }
    }
  }
}

TEST(TreeTest, EveryNodeBeginsOnACacheLine) {
  for (const int num_actions : {2, 6, 18}) {
    const Tree tree(2, 3, num_actions);
    for (int b = 0; b < 2; ++b) {
      for (int n = 0; n < 3; ++n) {
        EXPECT_EQ(reinterpret_cast<uintptr_t>(tree.At(b, n).record) % 64, 0u) << num_actions;
      }
    }
  }
}

TEST(TreeTest, ALeafAnswersQuestionsAboutItsActions) {
  Tree tree(1, 2, 3);
  const float logits[3] = {0.0f, 0.0f, 20.0f};
  ExpandNode(OneLane(), tree.view(), 0, 0, {-1, -1, -1, 0},
             {.value = 0.5f, .prior_logits = logits});
  EXPECT_EQ(tree.child(0, 0, 2), -1);
  EXPECT_EQ(tree.visit_count(0, 0, 2), 0);
  EXPECT_EQ(tree.q_value(0, 0, 2), 0.0);
  EXPECT_NEAR(tree.prior(0, 0, 0), 2.0611536e-9, 1e-15);  // exp(-20) / (1 + 2 exp(-20))
  EXPECT_NEAR(tree.prior(0, 0, 2), 1.0, 1e-7);
  EXPECT_EQ(tree.depth(0, 0), 0);
}

TEST(TreeTest, SizesAreCountedIn64Bits) {
  // 1,000 roots, 100,001 nodes, 362 actions in 91 groups of four: 5,824 + 56 bytes a node.
  EXPECT_GT(Tree::NumBytes(1000, 100001, 362), int64_t{1000} * 100001 * 5824);
}

TEST(TreeDeathTest, EmptyTreesAreABug) {
  EXPECT_DEATH(Tree(0, 1, 1), "got 0 roots, 1 nodes, 1 actions");
}

}  // namespace
}  // namespace lzero::tree_test
