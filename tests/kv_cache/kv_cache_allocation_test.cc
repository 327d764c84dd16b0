// Rules of a warm step that hold without a GPU: nothing is allocated (counted by operator new, see
// counted_new.h), addresses stay, and a simulation costs the same however many came before.

#include <algorithm>
#include <vector>

#include "tests/kv_cache/cache_testing.h"
#include "tests/support/counted_new.h"

namespace lzero::kv_cache_allocation_test {
namespace {

// One search of `nodes` simulations in all environments, with everything prepared by the caller.
class Searcher {
 public:
  explicit Searcher(KVCacheManager* manager)
      : manager_(manager), batch_(manager->config(), manager->config().num_envs + 1) {
    rows_.row_size = 2 * manager->config().shape.token_size();
    rows_.numbers.assign(manager->config().num_envs * rows_.row_size, 1.0f);
    for (int64_t env = 0; env < manager->config().num_envs; ++env) {
      envs_.push_back(EnvId(env));
      keys_.push_back({EnvId(env), NodeId(0)});
      children_.push_back({EnvId(env), NodeId(0), NodeId(0)});
    }
  }

  void StoreRoots() {
    const KVCacheShape& shape = manager_->config().shape;
    for (const EnvId env : envs_) {
      ASSERT_TRUE(manager_->StoreInit(env, 0, MakeCache(shape, {1, 2, 3, 4, 5, 6, 7})).ok());
    }
  }

  void Begin() { manager_->BeginSearch(envs_); }

  bool Simulate(int64_t parent, int64_t child) {
    for (size_t i = 0; i < envs_.size(); ++i) {
      keys_[i].node = NodeId(parent);
      children_[i].parent = NodeId(parent);
      children_[i].child = NodeId(child);
    }
    return manager_->CloneInto(keys_, batch_.views()).ok() &&
           manager_->StoreRecurrent(children_, rows_).ok();
  }

 private:
  KVCacheManager* manager_;
  HostBatch batch_;
  HostRows rows_;
  std::vector<EnvId> envs_;
  std::vector<ContextKey> keys_;
  std::vector<ChildKey> children_;
};

TEST(CacheAllocation, TheCounterCounts) {
  const int64_t allocations = NumAllocations(), bytes = AllocatedBytes();
  const KVCache cache = *KVCache::Create(CacheStorage::kStatic, {2, 3}, 100);
  EXPECT_GT(NumAllocations(), allocations);
  EXPECT_GE(AllocatedBytes() - bytes, cache.bytes());
}

TEST(CacheAllocation, AWarmStepAllocatesNothingAndKeepsItsAddresses) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCacheManagerConfig config = SmallConfig();
    config.storage = storage;
    config.num_envs = 8;
    config.nodes_per_env = 26;
    auto manager = MakeManager(config);
    Searcher searcher(manager.get());
    searcher.StoreRoots();
    for (int64_t node = 1; node < 26; ++node) ASSERT_TRUE(searcher.Simulate(node - 1, node));

    const void* address = manager->storage_address();
    const int64_t allocations = NumAllocations();
    bool all_fine = true;
    for (int64_t search = 0; search < 40; ++search) {
      searcher.Begin();
      for (int64_t node = 1; node < 26; ++node) {  // 1,000 steps in all
        all_fine = searcher.Simulate(search % 2 == 0 ? node - 1 : node / 2, node) && all_fine;
      }
    }
    EXPECT_EQ(NumAllocations(), allocations);
    EXPECT_EQ(manager->storage_address(), address);
    EXPECT_TRUE(all_fine);
    EXPECT_EQ(manager->stats().stores, 8 + 8 * 25 + 8 * 1000);
  }
}

TEST(CacheAllocation, WarmRootsAllocateNothingAndKeepTheirAddresses) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCacheManagerConfig config = SmallConfig();
    config.storage = storage;
    config.num_envs = 8;
    auto manager = MakeManager(config);
    const HostRows tokens = MakeTokenRows(config.shape, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
    std::vector<InitTokens> entries;
    for (int64_t env = 0; env < 8; ++env) entries.push_back({EnvId(env), 0, env % 5, 7, 0});
    bool all_fine = true;
    const auto store = [&](int64_t step) {
      for (InitTokens& entry : entries) entry.step = step;
      all_fine = manager->StoreInits(entries, tokens).ok() && all_fine;
      for (const InitTokens& entry : entries) manager->RetireInit(entry.env, step);
    };
    for (int64_t step = 0; step < 3; ++step) store(step);

    const void* address = manager->storage_address();
    const int64_t allocations = NumAllocations();
    for (int64_t step = 3; step < 100; ++step) store(step);
    EXPECT_EQ(NumAllocations(), allocations);
    EXPECT_EQ(manager->storage_address(), address);
    EXPECT_TRUE(all_fine);
    EXPECT_EQ(manager->stats().stores, 8 * 100);
    EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(4), 99)),
              (std::vector<int64_t>{5, 6, 7, 8, 9, 10, 11}));
  }
}

TEST(CacheAllocation, ASimulationCostsTheSameHoweverManyCameBefore) {
  KVCacheManagerConfig config = SmallConfig();  // contexts of 7 tokens: 4 nodes at most
  config.num_envs = 1;
  config.nodes_per_env = 1001;
  auto manager = MakeManager(config);
  Searcher searcher(manager.get());
  searcher.StoreRoots();
  for (int64_t node = 1; node <= 1000; ++node) {
    const int64_t before = manager->stats().path_hops;
    ASSERT_TRUE(searcher.Simulate(node - 1, node));
    const int64_t hops = manager->stats().path_hops - before;
    // Roots and nodes visited: 1, 2, 3, 4 for the first depths, then the window is the limit.
    ASSERT_EQ(hops, std::min<int64_t>(node, 4)) << "node " << node;
  }
  EXPECT_EQ(manager->stats().bytes, 2 * 2 * 3 * 4 * (1 + 2 * 7 + 1000 * 2))
      << "a node owns two tokens and nothing else";
}

}  // namespace
}  // namespace lzero::kv_cache_allocation_test
