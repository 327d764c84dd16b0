// Faults of public systems that show over whole searches, one test each, named after the fault:
// reset, capacity, leaks between searches and between roles.

#include <algorithm>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/rng.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_search_faults_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

constexpr CacheStorage kAllKinds[] = {CacheStorage::kStatic, CacheStorage::kGrowing};

// A search in every environment: each simulation expands one node below a pseudo-random parent,
// whose two tokens are a function of the parent's whole context, as a model's would be. Returns
// every context that was read, in order.
std::vector<float> RunSearch(KVCacheManager& manager, uint64_t seed) {
  const KVCacheManagerConfig& config = manager.config();
  const int64_t window = config.context_length - 1;
  const int64_t token = config.shape.token_size();
  RandomStream random(seed, "faults_test");
  std::vector<EnvId> envs;
  for (int64_t env = 0; env < config.num_envs; ++env) envs.push_back(EnvId(env));
  manager.BeginSearch(envs);
  for (const EnvId env : envs) {
    manager.EndEpisode(env);
    KVCache root = *KVCache::Create(CacheStorage::kStatic, config.shape, window + 1);
    const int64_t length = 1 + random.UniformInt(window);
    std::vector<float> tokens(length * token);
    for (float& number : tokens) number = static_cast<float>(random.Uniform());
    EXPECT_TRUE(root.Append(tokens).ok());
    root.set_weight_version(manager.weight_version());
    EXPECT_TRUE(manager.StoreInit(env, 0, root).ok());
  }
  HostBatch batch(config, config.num_envs);
  HostRows rows = {std::vector<float>(config.num_envs * 2 * token), 2 * token};
  std::vector<float> seen;
  for (int64_t node = 1; node < config.nodes_per_env; ++node) {
    std::vector<ContextKey> keys;
    std::vector<ChildKey> children;
    for (const EnvId env : envs) {
      const NodeId parent(random.UniformInt(node));
      keys.push_back({env, parent});
      children.push_back({env, parent, NodeId(node)});
    }
    EXPECT_TRUE(manager.CloneInto(keys, batch.views()).ok());
    const std::vector<float>& contexts = batch.tokens();
    seen.insert(seen.end(), contexts.begin(), contexts.end());
    for (int64_t row = 0; row < config.num_envs; ++row) {
      float* out = rows.numbers.data() + row * 2 * token;
      for (int64_t i = 0; i < 2 * token; ++i) {
        out[i] = static_cast<float>(random.Uniform());
        for (int64_t t = 0; t < window; ++t) {
          out[i] += 0.1f * contexts[(row * window + t) * token + i % token];
        }
      }
    }
    EXPECT_TRUE(manager.StoreRecurrent(children, rows).ok());
  }
  return seen;
}

TEST(CacheFaults, ResetOfAnObjectThatWasNeverFullyBuilt_Cache) {
  for (const CacheStorage storage : kAllKinds) {
    const KVCacheShape shape = {2, 3};
    using Prepare = std::function<void(KVCache&)>;
    const std::vector<Prepare> states = {
        [](KVCache&) {},  // never used
        [&](KVCache& cache) { ASSERT_TRUE(cache.Append(MakeTokens(shape, {1})).ok()); },
        [&](KVCache& cache) { cache.Reset(); },
        [&](KVCache& cache) {  // full, all of it prefix
          ASSERT_TRUE(cache.Append(MakeTokens(shape, {1, 2, 3})).ok());
          cache.Advance();
        },
        [](KVCache& cache) { KVCache thief = std::move(cache); },
    };
    for (size_t state = 0; state < states.size(); ++state) {
      KVCache cache = *KVCache::Create(storage, shape, 3);
      states[state](cache);
      const int64_t capacity = cache.capacity();
      const void* address = cache.storage_address();
      cache.Reset();
      EXPECT_EQ(cache.size(), 0);
      EXPECT_EQ(cache.prefix_size(), 0);
      EXPECT_EQ(cache.weight_version(), 0);
      EXPECT_EQ(cache.capacity(), capacity);
      EXPECT_EQ(cache.storage_address(), address);
      const bool usable = storage == CacheStorage::kGrowing || state + 1 < states.size();
      EXPECT_EQ(cache.Append(MakeTokens(shape, {7, 8, 9})).ok(), usable) << "state " << state;
      EXPECT_EQ(ReadTokens(cache), usable ? Numbers({7, 8, 9}) : Numbers());
      cache = *KVCache::Create(storage, shape, 3);  // any state can be assigned to
      EXPECT_TRUE(cache.Append(MakeTokens(shape, {4})).ok());
    }
  }
}

TEST(CacheFaults, ResetOfAnObjectThatWasNeverFullyBuilt_Manager) {
  for (const CacheStorage storage : kAllKinds) {
    using Prepare = std::function<void(KVCacheManager&)>;
    const std::vector<Prepare> states = {
        [](KVCacheManager&) {},  // never used
        [](KVCacheManager& manager) {
          ASSERT_TRUE(manager.StoreInit(EnvId(0), 0, MakeCache({2, 3}, {1})).ok());
        },
        [](KVCacheManager& manager) { manager.Reset(); },
        [](KVCacheManager& manager) { RunSearch(manager, 1); },  // every node used
        [](KVCacheManager& manager) {
          RunSearch(manager, 1);
          manager.BeginSearch({EnvId(0), EnvId(1)});
        },
    };
    std::vector<float> fresh;
    for (const Prepare& prepare : states) {
      KVCacheManagerConfig config = SmallConfig();
      config.storage = storage;
      auto manager = MakeManager(config);
      prepare(*manager);
      const void* address = manager->storage_address();
      manager->Reset();
      EXPECT_EQ(manager->storage_address(), address);
      for (int64_t env = 0; env < 2; ++env) {
        EXPECT_FALSE(manager->HasInit(EnvId(env), 0));
        for (int64_t node = 0; node < 6; ++node) {
          EXPECT_EQ(manager->Clone(EnvId(env), NodeId(node)).status().code(),
                    StatusCode::kNotFound);
        }
      }
      const std::vector<float> seen = RunSearch(*manager, 2);
      if (fresh.empty()) fresh = seen;
      EXPECT_EQ(seen, fresh);
    }
  }
}

TEST(CacheFaults, CacheIsTooSmallAndContextIsLostInSilence_StaticIsAnError) {
  auto manager = MakeManager(SmallConfig());
  const KVCacheShape shape = manager->config().shape;
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(shape, {1})).ok());
  for (int64_t node = 1; node < 6; ++node) {
    ASSERT_TRUE(
        manager->StoreRecurrent({Child(0, node - 1, node)}, MakeRows(shape, {{2, node + 10}}))
            .ok());
  }
  const std::string before = PoolBytes(*manager);
  EXPECT_TRUE(Says(manager->StoreRecurrent({Child(0, 5, 6)}, MakeRows(shape, {{2, 16}})),
                   StatusCode::kResourceExhausted, {"raise nodes_per_env", "at least 7"}));
  ASSERT_TRUE(manager->StoreInit(EnvId(1), 0, MakeCache(shape, {1})).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(1), 1, MakeCache(shape, {2})).ok());
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(1), 2, MakeCache(shape, {3})),
                   StatusCode::kResourceExhausted, {"raise init_steps_per_env", "at least 3"}));
  EXPECT_EQ(manager->stats().refused_stores, 2);
  // All that was there is there.
  EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(5))), Numbers({12, 2, 13, 2, 14, 2, 15}));
  EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(1), 0)), Numbers({1}));
  EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(1), 1)), Numbers({2}));
  EXPECT_EQ(PoolBytes(*manager).size(), before.size());
}

TEST(CacheFaults, CacheIsTooSmallAndContextIsLostInSilence_GrowingGrows) {
  KVCacheManagerConfig config = SmallConfig();
  config.storage = CacheStorage::kGrowing;
  config.nodes_per_env = 100;  // growing storage begins with 8 of them
  auto manager = MakeManager(config);
  const KVCacheShape shape = config.shape;
  int64_t addresses = 1;
  int64_t peak = manager->stats().bytes;
  const auto watch_growth = [&](const void* address, int64_t bytes) {
    if (manager->storage_address() == address) return;
    ++addresses;
    EXPECT_GT(manager->stats().bytes, bytes);
    peak = std::max(peak, manager->stats().bytes + bytes);  // old and new exist at once
  };
  for (int64_t step = 0; step < 20; ++step) {
    const void* address = manager->storage_address();
    const int64_t bytes = manager->stats().bytes;
    ASSERT_TRUE(manager->StoreInit(EnvId(1), step, MakeCache(shape, {step, step + 1})).ok());
    watch_growth(address, bytes);
    // Nodes of environment 0 hang on one root while the pool moves below them.
    if (step == 0) {
      ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(shape, {500})).ok());
    }
  }
  for (int64_t node = 1; node < 200; ++node) {
    const void* address = manager->storage_address();
    const int64_t bytes = manager->stats().bytes;
    ASSERT_TRUE(
        manager->StoreRecurrent({Child(0, node - 1, node)}, MakeRows(shape, {{2, 500 + node}}))
            .ok());
    watch_growth(address, bytes);
    ASSERT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(1))), Numbers({500, 2, 501}));
  }
  EXPECT_EQ(addresses, 1 + 5 + 5) << "entries 1 .. 32 and nodes 8 .. 256 by doubling";
  EXPECT_EQ(manager->stats().peak_bytes, peak);
  EXPECT_EQ(manager->stats().refused_stores, 0);
  for (int64_t step = 0; step < 20; ++step) {
    EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(1), step)), Numbers({step, step + 1}));
  }
  for (int64_t node = 4; node < 200; ++node) {
    EXPECT_EQ(ReadTokens(*manager->Clone(EnvId(0), NodeId(node))),
              Numbers({497 + node, 2, 498 + node, 2, 499 + node, 2, 500 + node}));
  }
}

TEST(CacheFaults, StateLeaksFromOneSearchIntoTheNext) {
  for (const CacheStorage storage : kAllKinds) {
    KVCacheManagerConfig config = SmallConfig();
    config.storage = storage;
    config.nodes_per_env = 40;
    auto kept = MakeManager(config);
    for (uint64_t search = 0; search < 5; ++search) {
      auto fresh = MakeManager(config);
      EXPECT_EQ(RunSearch(*kept, search), RunSearch(*fresh, search)) << "search " << search;
    }
  }
}

TEST(CacheFaults, EvaluationDisturbsCollection) {
  KVCacheManagerConfig config = SmallConfig();
  auto alone = MakeManager(config);
  auto collector = MakeManager(config);
  config.num_envs = 3;
  auto evaluator = MakeManager(config);
  for (uint64_t round = 0; round < 4; ++round) {
    const std::vector<float> expected = RunSearch(*alone, round);
    RunSearch(*evaluator, 100 + round);
    evaluator->InvalidateWeights(static_cast<int64_t>(round));
    EXPECT_EQ(RunSearch(*collector, round), expected);
    if (round == 2) evaluator->Reset();
    RunSearch(*evaluator, 200 + round);
    EXPECT_EQ(PoolBytes(*collector), PoolBytes(*alone));
  }
  evaluator.reset();
  EXPECT_EQ(PoolBytes(*collector), PoolBytes(*alone));
}

}  // namespace
}  // namespace lzero::kv_cache_search_faults_test
