// The manager and the pool that it is given: of another device, that has too little memory, that
// cannot grow. The pretended device is memory of the host.
#include <memory>
#include <vector>

#include "lzero/kv_cache/internal/host_token_pool.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_pool_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

template <typename T>
Rows<T> OnCuda(Rows<T> rows, int index = 0) {
  rows.device = {Device::Kind::kCuda, index};
  return rows;
}

KVCacheManagerConfig CudaConfig() {
  KVCacheManagerConfig config = SmallConfig();
  config.device = Device::kCuda;
  config.make_pool = internal::HostTokenPool::Create;
  return config;
}

TEST(KVCacheManagerPool, IsMadeOnceWithTheShapeAndTheSlotsOfTheConfig) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCacheManagerConfig config = CudaConfig();
    config.storage = storage;
    int num_pools = 0;
    const TokenPool* made = nullptr;
    config.make_pool = [&](const KVCacheShape& shape, int64_t num_slots) {
      ++num_pools;
      EXPECT_EQ(shape.num_layers, 2);
      EXPECT_EQ(shape.embed_dim, 3);
      // 7 tokens a root, 2 a node, and the empty slot; growing storage begins with one root.
      const int64_t num_inits = storage == CacheStorage::kStatic ? 2 : 1;
      EXPECT_EQ(num_slots, 1 + 2 * (num_inits * 7 + 5 * 2));
      auto pool = internal::HostTokenPool::Create(shape, num_slots);
      made = pool->get();
      return pool;
    };
    const auto manager = MakeManager(config);
    EXPECT_EQ(num_pools, 1);
    ASSERT_NE(made, nullptr);
    EXPECT_EQ(manager->storage_address(), made->address());
    EXPECT_EQ(manager->stats().bytes, made->bytes());
    EXPECT_EQ(manager->config().device, Device::kCuda);
  }
}

TEST(KVCacheManagerPool, RowsAreTakenAndFilledOnItsDevice) {
  const KVCacheManagerConfig config = CudaConfig();
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1, 2, 3})).ok());
  const HostRows tokens = MakeTokenRows(config.shape, {7, 8, 9});
  ASSERT_TRUE(
      manager->StoreInits({InitTokens{EnvId(1), 0, 1, 2, 0}}, OnCuda<const float>(tokens)).ok());
  const HostRows rows = MakeRows(config.shape, {{11, 12}, {21, 22}});
  ASSERT_TRUE(
      manager->StoreRecurrent({Child(0, 0, 1), Child(1, 0, 1)}, OnCuda<const float>(rows)).ok());
  HostBatch batch(config, 3);
  ContextBatch views = {OnCuda(batch.views().tokens), OnCuda(batch.views().lengths)};
  ASSERT_TRUE(manager->CloneInto({Key(1, 1), Key(0, 1)}, views).ok());
  EXPECT_EQ(ReadRow(batch, 0), Numbers({8, 9, 21, 22}));
  EXPECT_EQ(ReadRow(batch, 1), Numbers({1, 2, 3, 11, 12}));
  EXPECT_EQ(ReadRow(batch, 2), Numbers());
  // Single clones come to the host.
  EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(1), NodeId(1))), Numbers({8, 9, 21, 22}));
  EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(0), 0)), Numbers({1, 2, 3}));
}

TEST(KVCacheManagerPool, RowsElsewhereAreRefusedAndBothAreNamed) {
  const KVCacheManagerConfig config = CudaConfig();
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1, 2, 3})).ok());
  const HostRows tokens = MakeTokenRows(config.shape, {7});
  const HostRows rows = MakeRows(config.shape, {{11, 12}});
  HostBatch batch(config, 1);
  const ContextBatch host = batch.views();
  const StatusCode invalid = StatusCode::kInvalidArgument;
  const std::vector<InitTokens> entries = {{EnvId(0), 1, 0, 1, 0}};
  EXPECT_TRUE(Says(manager->StoreInits(entries, tokens), invalid,
                   {"rows of 12 numbers on cpu, must be rows of 12 numbers on cuda"}));
  EXPECT_TRUE(Says(manager->StoreInits(entries, OnCuda<const float>(tokens, 1)), invalid,
                   {"on cuda:1, must be rows of 12 numbers on cuda"}));
  EXPECT_TRUE(Says(manager->StoreRecurrent({Child(0, 0, 1)}, rows), invalid,
                   {"rows of 24 numbers on cpu, must be rows of 24 numbers on cuda"}));
  ContextBatch tokens_on_host = {host.tokens, OnCuda(host.lengths)};
  ContextBatch lengths_on_host = {OnCuda(host.tokens), host.lengths};
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 0)}, tokens_on_host), invalid,
                   {"tokens of CloneInto", "on cpu, must be rows of 84 numbers on cuda"}));
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 0)}, lengths_on_host), invalid,
                   {"lengths of CloneInto", "on cpu, must be rows of 1 numbers on cuda"}));
  EXPECT_FALSE(manager->HasInit(EnvId(0), 1));
  EXPECT_FALSE(manager->Clone(EnvId(0), NodeId(1)).ok());
  EXPECT_TRUE(AllAre(batch.tokens(), -7.0f));
}

TEST(KVCacheManagerPool, ItsErrorsNameTheCapacities) {
  KVCacheManagerConfig config = CudaConfig();
  config.make_pool = [](const KVCacheShape&, int64_t) {
    return absl::ResourceExhaustedError("the device is full");
  };
  EXPECT_TRUE(Says(KVCacheManager::Create(config).status(), StatusCode::kResourceExhausted,
                   {"the device is full", "num_envs 2", "nodes_per_env 6", "init_steps_per_env 2",
                    "context_length 8"}));
}

TEST(KVCacheManagerPool, GrowthBeyondTheMemoryIsRefusedAndChangesNothing) {
  KVCacheManagerConfig config = SmallConfig();
  config.storage = CacheStorage::kGrowing;
  config.shape = {2, 3000};
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1})).ok());
  const int64_t bytes = manager->stats().bytes;
  const void* address = manager->storage_address();
  const HostRows rows = MakeRows(config.shape, {{11, 12}, {21, 22}});
  EXPECT_TRUE(Says(manager->StoreRecurrent({Child(0, 0, 1), Child(0, 0, 2000000000)}, rows),
                   StatusCode::kResourceExhausted, {"bytes, this machine has"}));
  EXPECT_EQ(manager->stats().bytes, bytes);
  EXPECT_EQ(manager->stats().peak_bytes, bytes);
  EXPECT_EQ(manager->stats().refused_stores, 2);
  EXPECT_EQ(manager->storage_address(), address);
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(1)).status().code(), StatusCode::kNotFound);
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, rows).ok());
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(1))->size(), 3);
}

TEST(KVCacheManagerPoolDeathTest, AnotherDeviceNeedsAPool) {
  KVCacheManagerConfig config = CudaConfig();
  config.make_pool = nullptr;
  EXPECT_DEATH(KVCacheManager::Create(config).status().IgnoreError(), "no pool on cuda");
}

}  // namespace
}  // namespace lzero::kv_cache_pool_test
