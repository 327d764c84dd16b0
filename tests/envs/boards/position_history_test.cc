#include "envs/boards/position_history.h"

#include <gtest/gtest.h>

#include <set>

namespace lzero::position_history_test {
namespace {

// Hashes of few bits fill the filter, so that its answers must be checked.
TEST(PositionHistoryTest, IsASet) {
  PositionHistory history;
  std::set<uint64_t> expected;
  uint64_t bits = 1;
  for (int i = 0; i < 3000; ++i) {
    bits = bits * 6364136223846793005u + 1442695040888963407u;
    const uint64_t hash = (bits >> 60) << 50 | (bits >> 30 & 0x1ff) << 3;
    EXPECT_EQ(history.Contains(hash), expected.count(hash) == 1);
    EXPECT_EQ(history.Add(hash), !expected.insert(hash).second);
    EXPECT_TRUE(history.Contains(hash));
  }
  EXPECT_GT(expected.size(), 1000u);
  EXPECT_LT(expected.size(), 3000u);
  const PositionHistory copy = history;
  EXPECT_TRUE(copy.Contains(*expected.begin()));
  EXPECT_FALSE(copy.Contains(1));
}

}  // namespace
}  // namespace lzero::position_history_test
