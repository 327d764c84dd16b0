#include "lzero/mcts/tree/q_transform.h"

#include "gtest/gtest.h"

namespace lzero::q_transform_test {
namespace {

TEST(QTransformTest, FpuAtTheRootIsTheMeanOfVisitedQ) {
  NodeRecord root = {};
  root.parent = -1;
  EXPECT_EQ(FpuValue(root, 9.0f), 0.0f);
  root.q_sum = 3.0;
  root.num_children = 2;
  EXPECT_EQ(FpuValue(root, 9.0f), 1.5f);
}

TEST(QTransformTest, FpuBelowTheRootAddsTheParentFromTheMoversView) {
  NodeRecord node = {};
  node.parent = 0;
  node.q_sum = 3.0;
  node.num_children = 2;
  node.discount = 0.9f;
  EXPECT_EQ(FpuValue(node, 6.0f), 3.0f);  // (6 + 3) / 3
  node.discount = -0.9f;
  EXPECT_EQ(FpuValue(node, 6.0f), -1.0f);  // (-6 + 3) / 3
}

TEST(QTransformTest, TreeRangeHasAFloorAndIsClamped) {
  RulesView rules;
  rules.min_max_delta = 0.5f;
  RootRecord root = {};
  root.min_q = kInfinity;
  root.max_q = -kInfinity;
  EXPECT_EQ(TreeMinMaxScale(rules, root).Visited(7.0f), 0.0f) << "no Q yet";
  root.min_q = root.max_q = 2.0f;
  EXPECT_EQ(TreeMinMaxScale(rules, root).Visited(2.0f), 0.0f);
  EXPECT_EQ(TreeMinMaxScale(rules, root).Visited(2.25f), 0.5f) << "range 0 counts as 0.5";
  root.max_q = 6.0f;
  const ValueScale scale = TreeMinMaxScale(rules, root);
  EXPECT_EQ(scale.Visited(3.0f), 0.25f);
  EXPECT_EQ(scale.Visited(-1.0f), 0.0f);
  EXPECT_EQ(scale.Visited(9.0f), 1.0f);
  EXPECT_EQ(scale.Apply(3.0f, 1), 0.25f);
  EXPECT_EQ(scale.Apply(9.0f, 2), 1.0f);
  EXPECT_EQ(scale.Apply(5.0f, 0), scale.unvisited);
}

TEST(QTransformTest, MixedValueWeighsNetworkAndSearchByVisits) {
  RulesView rules;
  NodeRecord record = {};
  record.value = 1.0f;
  record.visits = 4;  // three of children
  record.num_children = 2;
  record.num_actions = 3;
  ChildStats stats;
  stats.sum_prior = 0.5f;
  stats.sum_prior_q = 2.5f;
  EXPECT_EQ(MixedValue(rules, record, stats), (1.0f + 3.0f * 5.0f) / 4.0f);
  rules.use_mixed_value = false;
  EXPECT_EQ(MixedValue(rules, record, stats), 1.0f);
}

TEST(QTransformTest, PeakIsTheLargestValueOfAnActionThatIsThere) {
  ValueScale scale;
  scale.unvisited = 2.0f;
  ChildStats stats;
  stats.max_q = 1.0f;
  NodeRecord record = {};
  record.num_children = 2;
  record.num_actions = 2;
  EXPECT_EQ(PeakValue(scale, record, stats), 1.0f) << "all are visited";
  record.num_actions = 3;
  EXPECT_EQ(PeakValue(scale, record, stats), 2.0f);
  scale.unvisited = 0.5f;
  EXPECT_EQ(PeakValue(scale, record, stats), 1.0f);
  record.num_children = 0;
  EXPECT_EQ(PeakValue(scale, record, stats), 0.5f) << "none is visited";
}

}  // namespace
}  // namespace lzero::q_transform_test
