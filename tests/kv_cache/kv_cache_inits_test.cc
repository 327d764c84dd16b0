// Init entries stored many at once, against the same stored one by one; and what is refused.
#include <gmock/gmock.h>

#include <vector>

#include "lzero/base/rng.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_inits_test {
namespace {

using testing::HasSubstr;

TEST(KVCacheInitsTest, ManyAtOnceAreThoseStoredOneByOne) {
  RandomStream random(3, "inits");
  for (int round = 0; round < 60; ++round) {
    KVCacheManagerConfig config = SmallConfig();
    config.num_envs = 1 + random.UniformInt(6);
    config.context_length = 1 + random.UniformInt(9);
    config.storage = round % 2 == 0 ? CacheStorage::kStatic : CacheStorage::kGrowing;
    const auto together = MakeManager(config), apart = MakeManager(config);
    std::vector<int64_t> names(30);
    for (int64_t& name : names) name = 1 + random.UniformInt(900);
    const HostRows rows = MakeTokenRows(config.shape, names);
    for (int64_t step = 0; step < 2; ++step) {
      std::vector<InitTokens> entries;
      for (int64_t env = config.num_envs; env-- > 0;) {
        const int64_t count = random.UniformInt(config.context_length);
        const int64_t first = random.UniformInt(31 - count);
        entries.push_back({EnvId(env), step, first, count, 0});
        const std::vector<int64_t> own(names.begin() + first, names.begin() + first + count);
        ASSERT_TRUE(apart->StoreInit(EnvId(env), step, MakeCache(config.shape, own)).ok());
      }
      ASSERT_TRUE(together->StoreInits(entries, rows).ok());
      for (const InitTokens& entry : entries) {
        const auto got = together->CloneInit(entry.env, step);
        ASSERT_TRUE(got.ok()) << got.status();
        EXPECT_EQ(ReadTokens(*got), ReadTokens(*apart->CloneInit(entry.env, step)));
      }
    }
    EXPECT_EQ(together->stats().stores, apart->stats().stores);
  }
}

TEST(KVCacheInitsTest, RowsThatAreNotThereAreRefusedAndEarlierEntriesStay) {
  const KVCacheManagerConfig config = SmallConfig();
  const auto manager = MakeManager(config);
  const HostRows rows = MakeTokenRows(config.shape, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  const InitTokens good = {EnvId(0), 0, 1, 2, 0};
  const InitTokens bad[] = {{EnvId(1), 0, 8, 2, 0},  {EnvId(1), 0, -1, 2, 0},
                            {EnvId(1), 0, 0, 8, 0},  {EnvId(1), 0, 0, -1, 0},
                            {EnvId(1), -1, 0, 2, 0}, {EnvId(2), 0, 0, 2, 0}};
  int64_t refused = 0;
  for (const InitTokens& entry : bad) {
    EXPECT_EQ(manager->StoreInits({good, entry}, rows).code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(0), 0)), (std::vector<int64_t>{2, 3}));
    EXPECT_FALSE(manager->HasInit(EnvId(1), 0));
    EXPECT_EQ(manager->stats().refused_stores, ++refused);
  }
  EXPECT_THAT(std::string(manager->StoreInits({bad[0]}, rows).message()),
              HasSubstr("environment 1, step 0: 2 tokens from row 8 on; allowed: 0 .. 7 of the 9"));
  EXPECT_EQ(manager->StoreInits({InitTokens{EnvId(0), 0, 0, 1, /*weight_version=*/3}}, rows).code(),
            absl::StatusCode::kFailedPrecondition);
}

TEST(KVCacheInitsTest, RowsOfAnotherSizeOrDeviceAreRefusedAndBothAreNamed) {
  const KVCacheManagerConfig config = SmallConfig();
  const auto manager = MakeManager(config);
  const HostRows good = MakeTokenRows(config.shape, {1, 2, 3});
  const std::string before = PoolBytes(*manager);
  const std::string allowed = "must be rows of 12 numbers on cpu";
  const auto refused = [&](Rows<const float> rows, const std::string& given) {
    return Says(manager->StoreInits({InitTokens{EnvId(0), 0, 0, 2, 0}}, rows),
                absl::StatusCode::kInvalidArgument, {"tokens of StoreInits", given, allowed});
  };
  const float* numbers = good.numbers.data();
  EXPECT_TRUE(refused({numbers, 3, 11}, "rows of 11 numbers on cpu"));
  EXPECT_TRUE(refused({numbers, 3, 6}, "rows of 6 numbers on cpu"));
  EXPECT_TRUE(refused({numbers, 1, 24}, "rows of 24 numbers on cpu"));
  EXPECT_TRUE(refused({numbers, 3, 12, Device::kCuda}, "rows of 12 numbers on cuda"));
  EXPECT_TRUE(refused({}, "rows of 0 numbers on cpu"));
  EXPECT_EQ(manager->stats().refused_stores, 5);
  EXPECT_EQ(PoolBytes(*manager), before);
  EXPECT_FALSE(manager->HasInit(EnvId(0), 0));
  EXPECT_TRUE(manager->StoreInits({InitTokens{EnvId(0), 0, 0, 2, 0}}, good).ok());
}

}  // namespace
}  // namespace lzero::kv_cache_inits_test
