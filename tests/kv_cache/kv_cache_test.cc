#include "lzero/kv_cache/kv_cache.h"

#include <algorithm>
#include <functional>
#include <utility>
#include <vector>

#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

const KVCacheShape kShape = {2, 3};

KVCache MakeEmpty(CacheStorage storage, int64_t capacity) {
  return *KVCache::Create(storage, kShape, capacity);
}

TEST(KVCache, HoldsWhatIsAppendedInOrder) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCache cache = MakeEmpty(storage, 5);
    EXPECT_TRUE(cache.Append(MakeTokens(kShape, {4, 9})).ok());
    EXPECT_TRUE(cache.Append(MakeTokens(kShape, {})).ok());
    EXPECT_TRUE(cache.Append(MakeTokens(kShape, {1, 7, 2})).ok());
    EXPECT_EQ(ReadTokens(cache), Numbers({4, 9, 1, 7, 2}));
    EXPECT_EQ(ReadTokens(kShape, cache.CopyTokens(1, 3)), Numbers({9, 1, 7}));
    EXPECT_TRUE(cache.CopyTokens(5, 0).empty());
    EXPECT_EQ(cache.size(), 5);
    EXPECT_EQ(cache.prefix_size(), 0);
    EXPECT_EQ(cache.capacity(), 5);
    EXPECT_EQ(cache.bytes(), 2 * 2 * 5 * 3 * 4);
    EXPECT_EQ(cache.kind(), storage);
    EXPECT_EQ(cache.shape().num_layers, 2);
    EXPECT_EQ(cache.shape().embed_dim, 3);
  }
}

TEST(KVCache, TokensLieInLayerKindTokenColumnOrder) {
  KVCache cache = MakeEmpty(CacheStorage::kStatic, 4);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {5, 6})).ok());
  const auto* elements = static_cast<const float*>(cache.storage_address());
  EXPECT_EQ(elements[((1 * 2 + 1) * 4 + 1) * 3 + 2],
            61102.0f);  // layer 1, value, token 6, column 2
}

// One number a row of L, 2: what goes in token by token lies part by part and comes out as it went
// in.
TEST(KVCache, AppendAndCopyTokensAreInTokenLayerKindColumnOrder) {
  KVCache cache = *KVCache::Create(CacheStorage::kStatic, {2, 1}, 3);
  ASSERT_TRUE(cache.Append({11, 12, 13, 14}).ok());
  ASSERT_TRUE(cache.Append({21, 22, 23, 24, 31, 32, 33, 34}).ok());
  const auto* elements = static_cast<const float*>(cache.storage_address());
  EXPECT_EQ(std::vector<float>(elements, elements + 12),
            (std::vector<float>{11, 21, 31, 12, 22, 32, 13, 23, 33, 14, 24, 34}));
  EXPECT_EQ(cache.CopyTokens(1, 2), (std::vector<float>{21, 22, 23, 24, 31, 32, 33, 34}));
}

TEST(KVCache, AdvanceMakesAPrefixAndResetSuffixReturnsToIt) {
  KVCache cache = MakeEmpty(CacheStorage::kStatic, 6);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {1, 2})).ok());
  cache.Advance();
  EXPECT_EQ(cache.prefix_size(), 2);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {3, 4})).ok());
  cache.ResetSuffix();
  EXPECT_EQ(ReadTokens(cache), Numbers({1, 2}));
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {5})).ok());
  cache.Advance();
  EXPECT_EQ(cache.prefix_size(), 3);
  cache.ResetSuffix();
  EXPECT_EQ(ReadTokens(cache), Numbers({1, 2, 5}));
}

TEST(KVCache, FullStaticStorageIsAnErrorThatNamesTheCapacity) {
  KVCache cache = MakeEmpty(CacheStorage::kStatic, 3);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {1, 2})).ok());
  const void* address = cache.storage_address();
  const std::string before = CacheBytes(cache);
  EXPECT_TRUE(Says(cache.Append(MakeTokens(kShape, {3, 4})), StatusCode::kResourceExhausted,
                   {"static storage holds 2 of 3 tokens", "2 more", "at least 4"}));
  EXPECT_EQ(ReadTokens(cache), Numbers({1, 2}));
  EXPECT_EQ(CacheBytes(cache), before);
  EXPECT_TRUE(cache.Append(MakeTokens(kShape, {5})).ok());
  EXPECT_EQ(cache.storage_address(), address);
}

TEST(KVCache, GrowingStorageDoublesAndKeepsItsContents) {
  KVCache cache = MakeEmpty(CacheStorage::kGrowing, 2);
  Numbers all;
  for (int64_t token = 1; token <= 33; ++token) {
    all.push_back(token);
    ASSERT_TRUE(cache.Append(MakeTokens(kShape, {token})).ok());
    ASSERT_EQ(ReadTokens(cache), all);
    if (token == 5) cache.Advance();
  }
  EXPECT_EQ(cache.capacity(), 64);  // 2, 4, 8, 16, 32, 64
  EXPECT_EQ(cache.prefix_size(), 5);
  const void* address = cache.storage_address();
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, Numbers(31, 8))).ok());
  EXPECT_EQ(cache.storage_address(), address) << "the address changes only when it grows";
}

TEST(KVCache, GrowsByMoreThanDoubleWhenAsked) {
  KVCache cache = MakeEmpty(CacheStorage::kGrowing, 2);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, Numbers(7, 3))).ok());
  EXPECT_EQ(cache.capacity(), 7);
}

TEST(KVCache, ReserveMakesRoomInGrowingStorageOnly) {
  KVCache growing = MakeEmpty(CacheStorage::kGrowing, 2);
  ASSERT_TRUE(growing.Append(MakeTokens(kShape, {1, 2})).ok());
  EXPECT_TRUE(growing.Reserve(9).ok());
  EXPECT_EQ(growing.capacity(), 9);
  EXPECT_TRUE(growing.Reserve(4).ok());
  EXPECT_EQ(growing.capacity(), 9);
  EXPECT_EQ(ReadTokens(growing), Numbers({1, 2}));
  EXPECT_TRUE(
      Says(growing.Reserve(-1), StatusCode::kInvalidArgument, {"Reserve(-1)", "at least 0"}));
  EXPECT_TRUE(Says(growing.Reserve(int64_t{1} << 45), StatusCode::kResourceExhausted,
                   {"[2, 2, 35184372088832, 3]", "this machine has"}));
  EXPECT_EQ(growing.capacity(), 9);

  KVCache fixed = MakeEmpty(CacheStorage::kStatic, 2);
  EXPECT_TRUE(Says(fixed.Reserve(9), StatusCode::kFailedPrecondition,
                   {"Reserve(9)", "static storage with capacity 2", "growing"}));
  EXPECT_EQ(fixed.capacity(), 2);
}

TEST(KVCache, CreateRefusesSizesThatAreNotPositive) {
  const auto create = [](int64_t layers, int64_t embed, int64_t capacity) {
    return KVCache::Create(CacheStorage::kStatic, {layers, embed}, capacity).status();
  };
  EXPECT_TRUE(
      Says(create(0, 3, 4), StatusCode::kInvalidArgument, {"num_layers is 0", "at least 1"}));
  EXPECT_TRUE(Says(create(2, -3, 4), StatusCode::kInvalidArgument, {"embed_dim is -3"}));
  EXPECT_TRUE(Says(create(2, 3, 0), StatusCode::kInvalidArgument, {"capacity is 0"}));
  EXPECT_TRUE(Says(create(2, 3, int64_t{1} << 62), StatusCode::kInvalidArgument,
                   {"more bytes than 64 bits"}));
  EXPECT_TRUE(Says(create(2, 3, int64_t{1} << 45), StatusCode::kResourceExhausted,
                   {"[2, 2, 35184372088832, 3]", "this machine has"}));
}

TEST(KVCache, AppendRefusesPartsOfTokensAndNamesBoth) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCache cache = MakeEmpty(storage, 4);
    ASSERT_TRUE(cache.Append(MakeTokens(kShape, {1})).ok());
    const std::string before = CacheBytes(cache);
    const std::vector<float> good = MakeTokens(kShape, Numbers(9, 2));
    for (const size_t size : {1, 6, 11, 13, 18, 59, 107}) {
      EXPECT_TRUE(Says(cache.Append(absl::MakeConstSpan(good).first(size)),
                       StatusCode::kInvalidArgument,
                       {absl::StrCat(" ", size, " numbers"), "whole tokens of 2 x 2 x 3"}));
    }
    EXPECT_EQ(CacheBytes(cache), before);
    EXPECT_EQ(cache.capacity(), 4);
    EXPECT_EQ(ReadTokens(cache), Numbers({1}));
  }
}

// What can be done to a cache, for the tests that do all of it.
std::vector<std::function<void(KVCache&)>> EveryWrite() {
  return {
      [](KVCache& cache) { ASSERT_TRUE(cache.Append(MakeTokens(kShape, {90})).ok()); },
      [](KVCache& cache) { cache.Advance(); },
      [](KVCache& cache) { cache.ResetSuffix(); },
      [](KVCache& cache) {
        cache.Reset();
        ASSERT_TRUE(cache.Append(MakeTokens(kShape, {91, 92, 93})).ok());
      },
      [](KVCache& cache) { cache.set_weight_version(77); },
      [](KVCache& cache) {
        std::vector<float> copy = cache.CopyTokens(0, cache.size());
        std::fill(copy.begin(), copy.end(), -1.0f);
      },
      [](KVCache& cache) { cache.Reserve(50).IgnoreError(); },
      [](KVCache& cache) { KVCache thief = std::move(cache); },
      [](KVCache& cache) { cache = MakeEmpty(CacheStorage::kGrowing, 1); },
  };
}

TEST(KVCache, CloneSharesNothingEitherWay) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    for (const auto& write : EveryWrite()) {
      for (const bool write_clone : {true, false}) {
        KVCache original = MakeEmpty(storage, 4);
        ASSERT_TRUE(original.Append(MakeTokens(kShape, {1})).ok());
        original.Advance();
        ASSERT_TRUE(original.Append(MakeTokens(kShape, {2, 3})).ok());
        original.set_weight_version(5);
        KVCache clone = original.Clone();
        EXPECT_NE(clone.storage_address(), original.storage_address());
        KVCache& written = write_clone ? clone : original;
        const KVCache& kept = write_clone ? original : clone;
        const std::string before = CacheBytes(kept);
        write(written);
        EXPECT_EQ(CacheBytes(kept), before);
        EXPECT_EQ(ReadTokens(kept), Numbers({1, 2, 3}));
        EXPECT_EQ(kept.prefix_size(), 1);
        EXPECT_EQ(kept.weight_version(), 5);
        EXPECT_EQ(kept.capacity(), 4);
        EXPECT_EQ(kept.kind(), storage);
      }
    }
  }
}

TEST(KVCache, ASourceChangedAfterAppendChangesNothing) {
  KVCache cache = MakeEmpty(CacheStorage::kStatic, 4);
  std::vector<float> source = MakeTokens(kShape, {1, 2});
  ASSERT_TRUE(cache.Append(source).ok());
  std::fill(source.begin(), source.end(), -3.0f);
  EXPECT_EQ(ReadTokens(cache), Numbers({1, 2}));
}

TEST(KVCache, MovesCarryEverything) {
  KVCache cache = MakeEmpty(CacheStorage::kStatic, 4);
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {1})).ok());
  cache.Advance();
  ASSERT_TRUE(cache.Append(MakeTokens(kShape, {2})).ok());
  cache.set_weight_version(3);
  const void* address = cache.storage_address();
  KVCache moved = std::move(cache);
  EXPECT_EQ(moved.storage_address(), address);
  KVCache assigned = MakeEmpty(CacheStorage::kGrowing, 1);
  assigned = std::move(moved);
  EXPECT_EQ(assigned.storage_address(), address);
  EXPECT_EQ(assigned.kind(), CacheStorage::kStatic);
  EXPECT_EQ(ReadTokens(assigned), Numbers({1, 2}));
  EXPECT_EQ(assigned.prefix_size(), 1);
  EXPECT_EQ(assigned.weight_version(), 3);
  KVCache& itself = assigned;
  assigned = std::move(itself);
  EXPECT_EQ(ReadTokens(assigned), Numbers({1, 2}));
}

TEST(KVCache, MovedFromIsEmptyAndSaysSo) {
  KVCache fixed = MakeEmpty(CacheStorage::kStatic, 4);
  KVCache growing = MakeEmpty(CacheStorage::kGrowing, 4);
  ASSERT_TRUE(fixed.Append(MakeTokens(kShape, {1})).ok());
  const KVCache thief = std::move(fixed);
  const KVCache other_thief = std::move(growing);
  for (const KVCache* empty : {&fixed, &growing}) {
    EXPECT_EQ(empty->size(), 0);
    EXPECT_EQ(empty->capacity(), 0);
    EXPECT_EQ(empty->bytes(), 0);
    EXPECT_EQ(empty->storage_address(), nullptr);
    EXPECT_TRUE(empty->CopyTokens(0, 0).empty());
    EXPECT_EQ(empty->Clone().capacity(), 0);
  }
  EXPECT_TRUE(Says(fixed.Append(MakeTokens(kShape, {1})), StatusCode::kResourceExhausted,
                   {"0 of 0 tokens", "at least 1"}));
  EXPECT_TRUE(growing.Append(MakeTokens(kShape, {6, 7})).ok());
  EXPECT_EQ(ReadTokens(growing), Numbers({6, 7}));
}

TEST(KVCacheDeathTest, CopyTokensOutsideIsABug) {
  const KVCache cache = MakeCache(kShape, {1, 2});
  EXPECT_DEATH(cache.CopyTokens(1, 2), "tokens 1 .. 3 of 2");
  EXPECT_DEATH(cache.CopyTokens(-1, 1), "tokens -1");
  EXPECT_DEATH(cache.CopyTokens(1, -1), "tokens 1 .. 0 of 2");
}

}  // namespace
}  // namespace lzero::kv_cache_test
