// What every pool of tokens must do, for pools whose memory the host can read: one suite, which the
// test of each pool instantiates with a maker. Include it once in a program.
#ifndef LZERO_TESTS_KV_CACHE_TOKEN_POOL_CASES_H_
#define LZERO_TESTS_KV_CACHE_TOKEN_POOL_CASES_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "lzero/kv_cache/token_pool.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::token_pool_cases {

using Numbers = std::vector<int64_t>;

inline constexpr KVCacheShape kShape = {2, 3};  // 12 numbers a token

class TokenPoolTest : public ::testing::TestWithParam<MakeTokenPool> {
 protected:
  static std::unique_ptr<TokenPool> MakePool(int64_t num_slots) {
    auto pool = GetParam()(kShape, num_slots);
    EXPECT_TRUE(pool.ok()) << pool.status();
    return *std::move(pool);
  }

  // Puts tokens into the slots from `first` on.
  static void Put(TokenPool& pool, int64_t first, const Numbers& tokens) {
    Numbers slots(tokens.size());
    std::iota(slots.begin(), slots.end(), first);
    pool.Scatter(slots, MakeTokens(kShape, tokens).data());
  }

  // Numbers that no token has, `count` tokens long.
  static std::vector<float> Unwritten(size_t count) { return std::vector<float>(count * 12, -7); }

  static Numbers Gather(TokenPool& pool, const Numbers& slots) {
    std::vector<float> rows = Unwritten(slots.size());
    pool.GatherInto(slots, rows.data());
    return ReadTokens(kShape, rows);
  }

  static bool AreZeros(TokenPool& pool, const Numbers& slots) {
    std::vector<float> rows = Unwritten(slots.size());
    pool.GatherInto(slots, rows.data());
    return AllAre(rows, 0.0f);
  }
};

TEST_P(TokenPoolTest, BeginsWithZeros) {
  auto pool = MakePool(5);
  EXPECT_EQ(pool->num_slots(), 5);
  EXPECT_EQ(pool->bytes(), 5 * 2 * 2 * 3 * 4);
  EXPECT_TRUE(AreZeros(*pool, {0, 1, 2, 3, 4}));
}

TEST_P(TokenPoolTest, WritesAndGathersInAnyOrder) {
  auto pool = MakePool(8);
  Put(*pool, 2, {12, 13, 14});
  EXPECT_EQ(Gather(*pool, {4, 2, 3, 4}), Numbers({14, 12, 13, 14}));
  EXPECT_EQ(Gather(*pool, {2, 3, 4}), Numbers({12, 13, 14}));
  EXPECT_EQ(Gather(*pool, {}), Numbers());
}

TEST_P(TokenPoolTest, SlotsLieOneAfterTheOtherAtTheAddress) {
  auto pool = MakePool(4);
  Put(*pool, 2, {12});
  const auto* numbers = static_cast<const float*>(pool->address());
  EXPECT_EQ(numbers[2 * 12 + (1 * 2 + 1) * 3 + 2], 121102.0f);  // layer 1, value, column 2
  EXPECT_TRUE(AllAre(absl::MakeConstSpan(numbers, 24), 0.0f));
  EXPECT_TRUE(AllAre(absl::MakeConstSpan(numbers + 36, 12), 0.0f));
}

TEST_P(TokenPoolTest, ScattersRowsAndNothingElse) {
  auto pool = MakePool(9);
  pool->Scatter(Numbers({5, 6, 2, 3}),
                MakeRows(kShape, {{15, 16}, {12, 13}, {99, 99}}).numbers.data());
  EXPECT_EQ(Gather(*pool, {2, 3, 5, 6}), Numbers({12, 13, 15, 16}));
  EXPECT_TRUE(AreZeros(*pool, {0, 1, 4, 7, 8}));
  pool->Scatter({}, nullptr);
}

TEST_P(TokenPoolTest, CopiesChosenRowsIntoChosenSlots) {
  auto pool = MakePool(9);
  const std::vector<float> tokens = MakeTokens(kShape, {20, 21, 22, 23, 24});
  pool->CopyRows(Numbers({1, 2, 4, 0}), tokens.data(), 5, Numbers({5, 6, 7, 2}));
  EXPECT_EQ(Gather(*pool, {2, 5, 6, 7}), Numbers({20, 21, 22, 24}));
  EXPECT_TRUE(AreZeros(*pool, {0, 1, 3, 4, 8}));
  pool->CopyRows({}, tokens.data(), 5, {});
  // A row may go into two slots, and slots that follow each other may take rows that do not.
  pool->CopyRows(Numbers({3, 3, 0}), tokens.data(), 5, Numbers({3, 4, 5}));
  EXPECT_EQ(Gather(*pool, {2, 3, 4, 5, 6, 7}), Numbers({20, 23, 23, 20, 22, 24}));
  // And the other way round.
  pool->CopyRows(Numbers({1, 2, 3}), tokens.data(), 5, Numbers({8, 1, 6}));
  EXPECT_EQ(Gather(*pool, {1, 2, 6, 7, 8}), Numbers({22, 20, 23, 24, 21}));
  EXPECT_TRUE(AreZeros(*pool, {0}));
}

TEST_P(TokenPoolTest, ReadsAndWritesMemoryOfTheHost) {
  auto pool = MakePool(9);
  const std::vector<float> tokens = MakeTokens(kShape, {15, 16, 12});
  pool->Write(Numbers({5, 6, 2}), tokens.data());
  EXPECT_EQ(Gather(*pool, {2, 5, 6}), Numbers({12, 15, 16}));
  EXPECT_TRUE(AreZeros(*pool, {0, 1, 3, 4, 7, 8}));
  std::vector<float> read = Unwritten(4);
  pool->Read(Numbers({6, 2, 6}), read.data());
  EXPECT_EQ(ReadTokens(kShape, absl::MakeConstSpan(read).first(36)), Numbers({16, 12, 16}));
  EXPECT_TRUE(AllAre(absl::MakeConstSpan(read).last(12), -7.0f));
  pool->Write({}, nullptr);
  pool->Read({}, nullptr);
}

TEST_P(TokenPoolTest, ASourceChangedAfterACallChangesNothing) {
  auto pool = MakePool(5);
  std::vector<float> tokens = MakeTokens(kShape, {11, 12});
  Numbers slots = {1, 2}, rows = {0, 1};
  pool->Scatter(slots, tokens.data());
  slots = {3, 4};
  pool->CopyRows(rows, tokens.data(), 2, slots);
  slots = rows = {0, 0};
  std::fill(tokens.begin(), tokens.end(), -3.0f);
  EXPECT_EQ(Gather(*pool, {1, 2, 3, 4}), Numbers({11, 12, 11, 12}));
}

TEST_P(TokenPoolTest, LeavesTheRestOfALargerBufferAlone) {
  auto pool = MakePool(4);
  Put(*pool, 1, {11, 12});
  std::vector<float> buffer = Unwritten(4);
  pool->GatherInto(Numbers({0, 2}), buffer.data());
  const absl::Span<const float> rows = buffer;
  EXPECT_TRUE(AllAre(rows.first(12), 0.0f));
  EXPECT_EQ(ReadTokens(kShape, rows.subspan(12, 12)), Numbers({12}));
  EXPECT_TRUE(AllAre(rows.subspan(24), -7.0f));
}

TEST_P(TokenPoolTest, GrowsAndKeepsItsContents) {
  auto pool = MakePool(4);
  Put(*pool, 1, {11, 12, 13});
  const void* address = pool->address();
  ASSERT_TRUE(pool->Grow(4).ok());
  ASSERT_TRUE(pool->Grow(2).ok());
  EXPECT_EQ(pool->address(), address);
  EXPECT_EQ(pool->num_slots(), 4);
  ASSERT_TRUE(pool->Grow(1000).ok());
  EXPECT_NE(pool->address(), address);
  EXPECT_EQ(pool->num_slots(), 1000);
  EXPECT_EQ(pool->bytes(), 1000 * 2 * 2 * 3 * 4);
  EXPECT_EQ(Gather(*pool, {1, 2, 3}), Numbers({11, 12, 13}));
  EXPECT_TRUE(AreZeros(*pool, {0, 4, 5, 500, 999}));
  address = pool->address();
  EXPECT_TRUE(Says(pool->Grow(int64_t{1} << 45), absl::StatusCode::kResourceExhausted, {"bytes"}));
  EXPECT_EQ(pool->address(), address);
  EXPECT_EQ(pool->num_slots(), 1000);
  EXPECT_EQ(Gather(*pool, {1, 2, 3}), Numbers({11, 12, 13}));
}

TEST_P(TokenPoolTest, TheAddressChangesHoweverLittleItGrows) {
  auto pool = MakePool(4);
  Put(*pool, 1, {11, 12, 13});
  for (int64_t num_slots = 5; num_slots < 14; ++num_slots) {
    const void* address = pool->address();
    ASSERT_TRUE(pool->Grow(num_slots).ok());
    EXPECT_NE(pool->address(), address) << num_slots;
    EXPECT_EQ(pool->num_slots(), num_slots);
    EXPECT_EQ(Gather(*pool, {1, 2, 3}), Numbers({11, 12, 13}));
    EXPECT_TRUE(AreZeros(*pool, {0, num_slots - 1}));
  }
}

TEST_P(TokenPoolTest, CopiesNumbers) {
  auto pool = MakePool(2);
  Numbers out = {-7, -7, -7}, numbers = {4, 5};
  pool->CopyNumbers(numbers, out.data());
  numbers = {0, 0};
  EXPECT_EQ(out, Numbers({4, 5, -7}));
  pool->CopyNumbers({}, nullptr);
}

TEST_P(TokenPoolTest, MoreThanTheMemoryIsRefused) {
  EXPECT_TRUE(Says(GetParam()(kShape, int64_t{1} << 45).status(),
                   absl::StatusCode::kResourceExhausted, {"1688849860263936 bytes"}));
}

using TokenPoolDeathTest = TokenPoolTest;

TEST_P(TokenPoolDeathTest, AsManyRowsAsSlots) {
  auto pool = MakePool(4);
  const std::vector<float> tokens = MakeTokens(kShape, {20, 21});
  EXPECT_DEATH(pool->CopyRows(Numbers({0, 1}), tokens.data(), 2, Numbers({1})),
               "2 rows for 1 slots");
}

}  // namespace lzero::token_pool_cases

#endif  // LZERO_TESTS_KV_CACHE_TOKEN_POOL_CASES_H_
