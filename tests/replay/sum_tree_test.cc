#include "lzero/replay/sum_tree.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::sum_tree_test {
namespace {

// Against a plain list: total, and the leaf under points of the running sum.
TEST(SumTree, AgreesWithAPlainList) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (const int num_leaves : {1, 2, 3, 7, 8, 9, 100}) {
    SumTree tree(num_leaves);
    std::vector<double> list(num_leaves, 0.0);
    for (int round = 0; round < 300; ++round) {
      const int leaf = static_cast<int>(uniform(random) * num_leaves);
      // Eighths are exact in binary, so that sums compare exactly.
      const double weight = uniform(random) < 0.3 ? 0.0 : std::floor(uniform(random) * 64) / 8;
      tree.Set(leaf, weight);
      list[leaf] = weight;
      double sum = 0.0;
      for (int i = 0; i < num_leaves; ++i) {
        ASSERT_EQ(tree.weight(i), list[i]);
        if (list[i] > 0.0) {
          ASSERT_EQ(tree.Find(sum), i);
          ASSERT_EQ(tree.Find(sum + list[i] * 0.99), i);
        }
        sum += list[i];
      }
      ASSERT_EQ(tree.total(), sum);
    }
  }
}

TEST(SumTree, NothingDriftsOverManyUpdates) {
  SumTree tree(1000);
  std::mt19937_64 random(2);
  std::uniform_real_distribution<double> uniform(0.0, 1.0);
  for (int i = 0; i < 200000; ++i) {
    tree.Set(static_cast<int>(uniform(random) * 1000), uniform(random) * 1e9);
  }
  for (int i = 0; i < 1000; ++i) tree.Set(i, 0.0);
  EXPECT_EQ(tree.total(), 0.0);
  tree.Set(123, 1e-9);
  EXPECT_EQ(tree.total(), 1e-9);
  EXPECT_EQ(tree.Find(1e-9), 123);
}

TEST(SumTree, NeverFindsALeafWithoutWeight) {
  SumTree tree(8);
  tree.Set(2, 0.1);
  tree.Set(5, 0.2);
  EXPECT_EQ(tree.Find(0.0), 2);
  EXPECT_EQ(tree.Find(tree.total()), 5);
  EXPECT_EQ(tree.Find(tree.total() * 2.0), 5);
  tree.Set(5, 0.0);
  EXPECT_EQ(tree.Find(tree.total()), 2);
}

TEST(SumTree, CountsItsBytes) {
  EXPECT_EQ(SumTree::BytesFor(1), 16);
  EXPECT_EQ(SumTree::BytesFor(1000), 1024 * 2 * 8);
}

TEST(SumTreeDeathTest, RefusesWrongCalls) {
  SumTree tree(4);
  EXPECT_DEATH(tree.Set(4, 1.0), "leaf 4 of 4");
  EXPECT_DEATH(tree.Set(0, -1.0), "weight -1");
  EXPECT_DEATH(tree.Set(0, std::numeric_limits<double>::infinity()), "weight inf");
  EXPECT_DEATH(tree.Find(0.0), "no leaf has a weight");
}

}  // namespace
}  // namespace lzero::sum_tree_test
