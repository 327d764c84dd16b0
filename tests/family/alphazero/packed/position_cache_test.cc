#include "lzero/family/alphazero/packed/position_cache.h"

#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace lzero::position_cache_test {
namespace {

using Numbers = std::vector<float>;

TEST(PositionCache, SaysAgainWhatWasKeptUntilItIsCleared) {
  PositionCache cache(1, 3);
  const Numbers a = {0, 1, 0}, b = {0, 0, 1}, said = {1, 2, 3};
  const auto key = PositionCache::KeyOf(a);
  EXPECT_EQ(cache.Find(key), nullptr);
  cache.Keep(key, said);
  EXPECT_EQ(Numbers(cache.Find(key), cache.Find(key) + 3), said);
  EXPECT_EQ(cache.Find(PositionCache::KeyOf(b)), nullptr);
  cache.Keep(PositionCache::KeyOf(b), said);  // the only place
  EXPECT_EQ(cache.Find(key), nullptr);
  cache.Clear();
  EXPECT_EQ(cache.Find(PositionCache::KeyOf(b)), nullptr);
}

// Boards of zeros and ones, as games show them: no two keys are alike, in neither half.
TEST(PositionCache, BoardsHaveKeysOfTheirOwn) {
  std::mt19937 random(1);
  std::map<uint64_t, Numbers> places, rests;
  for (int i = 0; i < 20000; ++i) {
    Numbers board(42);
    for (float& cell : board) cell = static_cast<float>(random() % 2);
    const auto key = PositionCache::KeyOf(board);
    EXPECT_EQ(places.emplace(key.place, board).first->second, board);
    EXPECT_EQ(rests.emplace(key.rest, board).first->second, board);
  }
  EXPECT_FALSE(PositionCache::KeyOf(Numbers{0}) == PositionCache::KeyOf(Numbers{0, 0}));
  EXPECT_FALSE(PositionCache::KeyOf(Numbers{1, 0}) == PositionCache::KeyOf(Numbers{0, 1}));
}

TEST(PositionCache, CountsItsBytes) { EXPECT_EQ(PositionCache::Bytes(5, 3), 8 * (16 + 1 + 12)); }

}  // namespace
}  // namespace lzero::position_cache_test
