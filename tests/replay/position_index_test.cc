#include "lzero/replay/position_index.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::position_index_test {
namespace {

using ::testing::ElementsAre;

class PositionIndexTest : public testing::Test {
 protected:
  GameSegment segment_{{1, 1}, 4, EnvId(0), 0, 0};
  PositionIndex index_{4};
};

TEST_F(PositionIndexTest, TakesTheLeafGivenBackLast) {
  for (int i = 0; i < 4; ++i) EXPECT_EQ(index_.Allocate({&segment_, i}), i);
  EXPECT_EQ(index_.num_used(), 4);
  index_.Release(2);
  index_.Release(0);
  EXPECT_EQ(index_.num_used(), 2);
  EXPECT_THAT(index_.free_leaves(), ElementsAre(2, 0));
  EXPECT_EQ(index_.Allocate({&segment_, 9}), 0);
  EXPECT_EQ(index_.place(0).step, 9);
  EXPECT_EQ(index_.Allocate({&segment_, 8}), 2);
  EXPECT_THAT(index_.generations(), ElementsAre(1, 0, 1, 0));
}

TEST_F(PositionIndexTest, HandlesGoStaleWhenTheLeafIsGivenBack) {
  const int leaf = index_.Allocate({&segment_, 0});
  const PositionHandle handle = index_.HandleOf(leaf);
  EXPECT_TRUE(index_.IsCurrent(handle));
  index_.Release(leaf);
  EXPECT_FALSE(index_.IsCurrent(handle));
  EXPECT_FALSE(index_.IsCurrent(index_.HandleOf(leaf)));  // free: nobody's
  ASSERT_EQ(index_.Allocate({&segment_, 1}), leaf);
  EXPECT_FALSE(index_.IsCurrent(handle));
  EXPECT_TRUE(index_.IsCurrent(index_.HandleOf(leaf)));
}

TEST_F(PositionIndexTest, CountsEligiblePositions) {
  for (int i = 0; i < 3; ++i) index_.Allocate({&segment_, i});
  EXPECT_EQ(index_.num_eligible(), 0);
  index_.SetWeight(0, 2.0);
  index_.SetWeight(2, 3.0);
  index_.SetWeight(2, 1.0);
  EXPECT_EQ(index_.num_eligible(), 2);
  EXPECT_EQ(index_.total_weight(), 3.0);
  EXPECT_EQ(index_.Find(1.9), 0);
  EXPECT_EQ(index_.Find(2.1), 2);
  index_.Release(0);
  EXPECT_EQ(index_.num_eligible(), 1);
  EXPECT_EQ(index_.total_weight(), 1.0);
}

TEST_F(PositionIndexTest, RestoresItsState) {
  index_.RestoreLeaves({5, 6, 7}, {1});
  index_.RestorePlace(0, {&segment_, 3}, 0.5);
  index_.RestorePlace(2, {&segment_, 1}, 0.0);
  EXPECT_EQ(index_.num_used(), 2);
  EXPECT_EQ(index_.num_eligible(), 1);
  EXPECT_TRUE(index_.IsCurrent({0, 5}));
  EXPECT_FALSE(index_.IsCurrent({1, 6}));
  EXPECT_EQ(index_.Allocate({&segment_, 0}), 1);
  EXPECT_EQ(index_.Allocate({&segment_, 0}), 3);
}

using PositionIndexDeathTest = PositionIndexTest;

TEST_F(PositionIndexDeathTest, RefusesWrongCalls) {
  for (int i = 0; i < 4; ++i) index_.Allocate({&segment_, i});
  EXPECT_DEATH(index_.Allocate({&segment_, 4}), "all 4 leaves are in use");
  EXPECT_DEATH((void)index_.IsCurrent({4, 0}), "leaf 4 of 4");
  EXPECT_DEATH(index_.RestoreLeaves({}, {}), "the index is in use");
  index_.Release(1);
  EXPECT_DEATH(index_.Release(1), "leaf 1 is free");
  EXPECT_DEATH(index_.RestorePlace(0, {&segment_, 0}, 0.0), "leaf 0 is taken");
}

TEST_F(PositionIndexTest, CountsItsBytes) {
  // Tree 8 leaves of two doubles; a pointer with a step, a generation and a free entry for each.
  EXPECT_EQ(PositionIndex::BytesFor(7), 8 * 16 + 7 * (16 + 4 + 4));
}

}  // namespace
}  // namespace lzero::position_index_test
