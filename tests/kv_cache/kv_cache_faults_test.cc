// One test for each fault of public systems that the cache makes impossible, named after the fault:
// isolation, keys, prefixes, weights, devices. Faults of whole searches are in
// kv_cache_search_faults_test.cc, allocation in kv_cache_allocation_test.cc.

#include <algorithm>
#include <cstring>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_faults_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

constexpr CacheStorage kAllKinds[] = {CacheStorage::kStatic, CacheStorage::kGrowing};

// Root tokens 1 .. 5 and node 1 with tokens 11 12, in environment 0.
std::unique_ptr<KVCacheManager> MakeUsed(CacheStorage storage) {
  KVCacheManagerConfig config = SmallConfig();
  config.storage = storage;
  auto manager = MakeManager(config);
  EXPECT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1, 2, 3, 4, 5})).ok());
  EXPECT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, MakeRows(config.shape, {{11, 12}})).ok());
  return manager;
}

// Everything a model could do to a cache that it was lent.
std::vector<std::function<void(KVCache&)>> EveryWrite(const KVCacheShape& shape) {
  return {
      [shape](KVCache& cache) {
        cache.Append(MakeTokens(shape, {90, 91})).IgnoreError();
      },
      [](KVCache& cache) { cache.Advance(); },
      [shape](KVCache& cache) {
        cache.ResetSuffix();
        cache.Append(MakeTokens(shape, {92})).IgnoreError();
      },
      [shape](KVCache& cache) {
        cache.Reset();
        cache.Append(MakeTokens(shape, {93, 94, 95})).IgnoreError();
      },
      [](KVCache& cache) {
        std::vector<float> copy = cache.CopyTokens(0, cache.size());
        std::fill(copy.begin(), copy.end(), -1.0f);
      },
      [](KVCache& cache) { cache.set_weight_version(99); },
      [](KVCache& cache) { cache.Reserve(100).IgnoreError(); },
      [](KVCache& cache) { std::memset(const_cast<void*>(cache.storage_address()), 1, 8); },
  };
}

TEST(CacheFaults, AGetterLendsTheStoredObject_WritesIntoAClone) {
  for (const CacheStorage storage : kAllKinds) {
    auto manager = MakeUsed(storage);
    const std::string before = PoolBytes(*manager);
    for (const auto& write : EveryWrite(manager->config().shape)) {
      KVCache init = *manager->CloneInit(EnvId(0), 0);
      KVCache root = *manager->Clone(EnvId(0), NodeId(0));
      KVCache node = *manager->CloneRecurrent(EnvId(0), NodeId(1));
      for (KVCache* clone : {&init, &root, &node}) write(*clone);
      EXPECT_EQ(PoolBytes(*manager), before);
    }
    HostBatch batch(manager->config(), 2);
    ASSERT_TRUE(manager->CloneInto({Key(0, 0), Key(0, 1)}, batch.views()).ok());
    std::fill(batch.tokens().begin(), batch.tokens().end(), -1.0f);
    std::fill(batch.lengths().begin(), batch.lengths().end(), -1);
    EXPECT_EQ(PoolBytes(*manager), before);
    EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(1))), Numbers({1, 2, 3, 4, 5, 11, 12}));
  }
}

TEST(CacheFaults, AGetterLendsTheStoredObject_WritesIntoThePool) {
  for (const CacheStorage storage : kAllKinds) {
    auto manager = MakeUsed(storage);
    const KVCacheShape shape = manager->config().shape;
    const KVCache root = *manager->CloneInit(EnvId(0), 0);
    const KVCache node = *manager->CloneRecurrent(EnvId(0), NodeId(1));
    HostBatch batch(manager->config(), 1);
    ASSERT_TRUE(manager->CloneInto({Key(0, 1)}, batch.views()).ok());
    manager->EndEpisode(EnvId(0));
    ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(shape, Numbers(7, 77))).ok());
    ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, MakeRows(shape, {{78, 79}})).ok());
    manager->Reset();
    manager.reset();
    EXPECT_EQ(ReadTokens(root), Numbers({1, 2, 3, 4, 5}));
    EXPECT_EQ(ReadTokens(node), Numbers({1, 2, 3, 4, 5, 11, 12}));
    EXPECT_EQ(ReadRow(batch, 0), Numbers({1, 2, 3, 4, 5, 11, 12}));
  }
}

TEST(CacheFaults, AStoredCacheIsSharedWithItsSource) {
  auto manager = MakeManager(SmallConfig());
  const KVCacheShape shape = manager->config().shape;
  KVCache source = MakeCache(shape, {1, 2});
  HostRows rows = MakeRows(shape, {{11, 12}});
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, source).ok());
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, rows).ok());
  source.Reset();
  ASSERT_TRUE(source.Append(MakeTokens(shape, {8, 9})).ok());
  std::fill(rows.numbers.begin(), rows.numbers.end(), -1.0f);
  EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(1))), Numbers({1, 2, 11, 12}));
}

TEST(CacheFaults, KeysAreHashesOfLatentsSharedByAllEnvironments) {
  KVCacheManagerConfig config = SmallConfig();
  config.num_envs = 8;
  config.nodes_per_env = 26;
  auto manager = MakeManager(config);
  const KVCacheShape shape = config.shape;
  // Identical contents everywhere: 8 x 26 contexts must still be 8 x 26 contexts.
  for (int64_t env = 0; env < 8; ++env) {
    ASSERT_TRUE(manager->StoreInit(EnvId(env), 0, MakeCache(shape, {5, 5})).ok());
    for (int64_t node = 1; node < 26; ++node) {
      ASSERT_TRUE(manager->StoreRecurrent({Child(env, 0, node)}, MakeRows(shape, {{6, 6}})).ok());
    }
  }
  EXPECT_EQ(manager->stats().stores, 8 * 26);
  // One environment moves on; the others must not see it.
  manager->BeginSearch({EnvId(3)});
  ASSERT_TRUE(manager->StoreInit(EnvId(3), 1, MakeCache(shape, {50})).ok());
  ASSERT_TRUE(manager->StoreRecurrent({Child(3, 0, 1)}, MakeRows(shape, {{60, 61}})).ok());
  for (int64_t env = 0; env < 8; ++env) {
    const Numbers expected = env == 3 ? Numbers({50, 60, 61}) : Numbers({5, 5, 6, 6});
    EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(env), NodeId(1))), expected);
  }
  EXPECT_FALSE(manager->Clone(EnvId(3), NodeId(2)).ok());
  EXPECT_TRUE(manager->Clone(EnvId(4), NodeId(2)).ok());
}

TEST(CacheFaults, PrefixAndSuffixAreMixedUp) {
  const KVCacheShape shape = {2, 3};
  KVCache cache = *KVCache::Create(CacheStorage::kStatic, shape, 12);
  ASSERT_TRUE(cache.Append(MakeTokens(shape, {1, 2, 3, 4})).ok());
  cache.Advance();
  const std::vector<float> prefix = cache.CopyTokens(0, 4);
  const void* address = cache.storage_address();
  for (int64_t simulation = 0; simulation < 50; ++simulation) {
    for (int64_t depth = 0; depth < 1 + simulation % 4; ++depth) {
      ASSERT_TRUE(cache.Append(MakeTokens(shape, {100 + simulation, 200 + depth})).ok());
    }
    EXPECT_EQ(cache.CopyTokens(0, 4), prefix);
    EXPECT_EQ(cache.prefix_size(), 4);
    cache.ResetSuffix();
    EXPECT_EQ(cache.size(), 4);
  }
  EXPECT_EQ(cache.CopyTokens(0, 4), prefix);
  EXPECT_EQ(cache.storage_address(), address);

  // The manager's roots: a whole search writes node tokens and nothing else.
  auto manager = MakeUsed(CacheStorage::kStatic);
  const std::string root = CacheBytes(*manager->CloneInit(EnvId(0), 0));
  for (int64_t node = 2; node < 6; ++node) {
    ASSERT_TRUE(
        manager->StoreRecurrent({Child(0, node - 1, node)}, MakeRows(shape, {{300, 300 + node}}))
            .ok());
    EXPECT_EQ(CacheBytes(*manager->CloneInit(EnvId(0), 0)), root);
  }
}

TEST(CacheFaults, WeightsChangeUnderCachedContexts) {
  auto manager = MakeUsed(CacheStorage::kStatic);
  const KVCacheShape shape = manager->config().shape;
  const KVCache before = *manager->CloneInit(EnvId(0), 0);
  manager->InvalidateWeights(7);
  EXPECT_EQ(manager->weight_version(), 7);
  EXPECT_FALSE(manager->HasInit(EnvId(0), 0));
  const StatusCode refused = StatusCode::kFailedPrecondition;
  const std::vector<std::string> versions = {"environment 0", "version 0", "now at version 7"};
  EXPECT_TRUE(Says(manager->CloneInit(EnvId(0), 0).status(), refused, versions));
  EXPECT_TRUE(Says(manager->Clone(EnvId(0), NodeId(0)).status(), refused, versions));
  EXPECT_TRUE(Says(manager->CloneRecurrent(EnvId(0), NodeId(1)).status(), refused, versions));
  HostBatch batch(manager->config(), 1);
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 1)}, batch.views()), refused, versions));
  EXPECT_TRUE(Says(manager->StoreRecurrent({Child(0, 1, 2)}, MakeRows(shape, {{1, 2}})), refused,
                   {"parent of row 0", "version 0", "version 7"}));
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), 1, before), refused,
                   {"environment 0, step 1", "version 0", "at version 7", "compute it again"}));
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), 1, MakeCache(shape, {1}, 8)), refused,
                   {"version 8", "at version 7", "call InvalidateWeights first"}));
  EXPECT_EQ(manager->stats().stale_reads, 4);
  EXPECT_EQ(manager->stats().refused_stores, 3);
  // Rebuilt with the weights of now, it works again; the same version twice changes nothing.
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(shape, {41, 42}, 7)).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 1, MakeCache(shape, {43}, 7)).ok());
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, MakeRows(shape, {{51, 52}})).ok());
  manager->InvalidateWeights(7);
  EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(1))), Numbers({43, 51, 52}));
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(1))->weight_version(), 7);
}

TEST(CacheFaults, CarriedRootsOfOlderWeightsAreServedOnPurposeAndCounted) {
  KVCacheManagerConfig config = SmallConfig();
  config.root_context = RootContext::kCarry;
  auto manager = MakeManager(config);
  const KVCacheShape shape = config.shape;
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(shape, {1, 2, 3, 4, 5})).ok());
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 5)}, MakeRows(shape, {{8, 9}})).ok());
  EXPECT_TRUE(manager->Clone(EnvId(0), NodeId(5)).ok());
  EXPECT_EQ(manager->stats().carried_reads, 0);
  manager->InvalidateWeights(3);
  EXPECT_TRUE(manager->HasInit(EnvId(0), 0));
  // Nodes are never carried.
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(5)).status().code(), StatusCode::kFailedPrecondition);
  KVCache carried = *manager->CloneInit(EnvId(0), 0);
  EXPECT_EQ(carried.weight_version(), 0);
  ASSERT_TRUE(carried.Append(MakeTokens(shape, {6, 7})).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 1, carried).ok());
  manager->BeginSearch({EnvId(0)});
  for (int64_t node = 1; node <= 4; ++node) {
    ASSERT_TRUE(
        manager->StoreRecurrent({Child(0, node - 1, node)}, MakeRows(shape, {{20, 20 + node}}))
            .ok());
  }
  EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(1))), Numbers({3, 4, 5, 6, 7, 20, 21}));
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(3))->weight_version(), 0) << "one root token is left";
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(4))->weight_version(), 3) << "no root token is left";
  EXPECT_EQ(manager->stats().carried_reads, 3);
  HostBatch batch(config, 2);
  ASSERT_TRUE(manager->CloneInto({Key(0, 2), Key(0, 4)}, batch.views()).ok());
  EXPECT_EQ(manager->stats().carried_reads, 4);
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(1), 0, MakeCache(shape, {1}, 4)),
                   StatusCode::kFailedPrecondition, {"version 4", "at version 3"}));
}

TEST(CacheFaults, MixedDevicesDeepInAPipeline) {
  auto manager = MakeUsed(CacheStorage::kStatic);
  const KVCacheManagerConfig& config = manager->config();
  const std::vector<std::string> both = {"on cuda", "on cpu"};
  const StatusCode invalid = StatusCode::kInvalidArgument;
  const auto elsewhere = [](auto rows) {
    rows.device = Device::kCuda;
    return rows;
  };
  const HostRows tokens = MakeTokenRows(config.shape, {1, 2});
  EXPECT_TRUE(Says(
      manager->StoreInits({InitTokens{EnvId(0), 1, 0, 2, 0}}, elsewhere(Rows<const float>(tokens))),
      invalid, both));
  const HostRows rows = MakeRows(config.shape, {{1, 2}});
  EXPECT_TRUE(Says(manager->StoreRecurrent({Child(0, 0, 2)}, elsewhere(Rows<const float>(rows))),
                   invalid, both));
  HostBatch batch(config, 1);
  ContextBatch tokens_elsewhere = {elsewhere(batch.views().tokens), batch.views().lengths};
  ContextBatch lengths_elsewhere = {batch.views().tokens, elsewhere(batch.views().lengths)};
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 0)}, tokens_elsewhere), invalid, both));
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 0)}, lengths_elsewhere), invalid, both));
}

TEST(CacheFaults, TokensAndLengthsOfDifferentBatches) {
  auto manager = MakeUsed(CacheStorage::kStatic);
  HostBatch batch(manager->config(), 2);
  ContextBatch fewer_tokens = batch.views(), fewer_lengths = batch.views();
  fewer_tokens.tokens.count = 1;
  fewer_lengths.lengths.count = 1;
  for (const ContextBatch& views : {fewer_tokens, fewer_lengths}) {
    // Two keys do not fit. One would, but the row beyond it would not become an empty context.
    for (const size_t num_keys : {2, 1}) {
      const std::vector<ContextKey> keys(num_keys, Key(0, 0));
      EXPECT_TRUE(
          Says(manager->CloneInto(keys, views), StatusCode::kInvalidArgument, {"CloneInto", "1"}));
      EXPECT_TRUE(AllAre(batch.tokens(), -7.0f));
      EXPECT_EQ(batch.lengths(), Numbers(2, -7));
    }
  }
}

}  // namespace
}  // namespace lzero::kv_cache_faults_test
