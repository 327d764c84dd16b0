#include "lzero/kv_cache/kv_cache_manager.h"

#include <vector>

#include "lzero/base/log.h"
#include "tests/kv_cache/cache_testing.h"

namespace lzero::kv_cache_manager_test {
namespace {

using absl::StatusCode;
using Numbers = std::vector<int64_t>;

Numbers ReadContext(const KVCacheManager& manager, int64_t env, int64_t node) {
  const absl::StatusOr<KVCache> clone = manager.Clone(EnvId(env), NodeId(node));
  EXPECT_TRUE(clone.ok()) << clone.status();
  return clone.ok() ? ReadTokens(*clone) : Numbers{-100};
}

// Root of environment `env` at step 0 with tokens 1 .. 5, and a chain of nodes 1, 2, 3 with tokens
// 11 12, 21 22, 31 32.
void StoreChain(KVCacheManager& manager, int64_t env) {
  const KVCacheShape& shape = manager.config().shape;
  const KVCache root = MakeCache(shape, {1, 2, 3, 4, 5}, manager.weight_version());
  ASSERT_TRUE(manager.StoreInit(EnvId(env), 0, root).ok());
  for (int64_t node = 1; node <= 3; ++node) {
    const HostRows rows = MakeRows(shape, {{10 * node + 1, 10 * node + 2}});
    ASSERT_TRUE(manager.StoreRecurrent({Child(env, node - 1, node)}, rows).ok());
  }
}

TEST(KVCacheManager, ClonesTheLastTokensOfThePath) {
  for (const CacheStorage storage : {CacheStorage::kStatic, CacheStorage::kGrowing}) {
    KVCacheManagerConfig config = SmallConfig();  // contexts of 7 tokens
    config.storage = storage;
    auto manager = MakeManager(config);
    StoreChain(*manager, 1);
    EXPECT_EQ(ReadContext(*manager, 1, 0), Numbers({1, 2, 3, 4, 5}));
    EXPECT_EQ(ReadContext(*manager, 1, 1), Numbers({1, 2, 3, 4, 5, 11, 12}));
    EXPECT_EQ(ReadContext(*manager, 1, 2), Numbers({3, 4, 5, 11, 12, 21, 22}));
    EXPECT_EQ(ReadContext(*manager, 1, 3), Numbers({5, 11, 12, 21, 22, 31, 32}));
  }
}

TEST(KVCacheManager, PlannedBytesAreWhatStaticStorageHolds) {
  KVCacheManagerConfig config = SmallConfig();
  EXPECT_EQ(*KVCacheManager::PlannedBytes(config), MakeManager(config)->stats().bytes);
  config.nodes_per_env *= 3;
  config.init_steps_per_env = 5;
  EXPECT_EQ(*KVCacheManager::PlannedBytes(config), MakeManager(config)->stats().bytes);
  const int64_t all = *KVCacheManager::PlannedBytes(config);
  config.storage = CacheStorage::kGrowing;
  EXPECT_EQ(*KVCacheManager::PlannedBytes(config), all);
  config.num_envs = 0;
  EXPECT_TRUE(absl::IsInvalidArgument(KVCacheManager::PlannedBytes(config).status()));
}

// L 2, E 3, 7 tokens a context, 2 environments of 2 roots and 5 nodes of two tokens, one empty
// slot:
// ((2 * 7 + 5 * 2) * 2 + 1) tokens of 2 * 2 * 3 floats.
TEST(KVCacheManager, CreateTellsItsBytes) {
  ShowDetails();
  testing::internal::CaptureStderr();
  KVCacheManagerConfig config = SmallConfig();
  config.owner = "collector";
  const auto manager = KVCacheManager::Create(config);
  const std::string told = testing::internal::GetCapturedStderr();
  EXPECT_EQ((*manager)->stats().bytes, ((2 * 7 + 5 * 2) * 2 + 1) * 2 * 2 * 3 * 4);
  EXPECT_TRUE(absl::StrContains(told,
                                "cache         2.3 KiB for 2 environments of the collector: each 6 "
                                "nodes, 2 roots of 7 tokens\n"))
      << told;
}

TEST(KVCacheManager, AnOddCutLeavesTheSecondTokenOfANode) {
  KVCacheManagerConfig config = SmallConfig();
  config.context_length = 4;  // contexts of 3 tokens
  auto manager = MakeManager(config);
  StoreChain(*manager, 0);
  EXPECT_EQ(ReadContext(*manager, 0, 0), Numbers({3, 4, 5}));
  EXPECT_EQ(ReadContext(*manager, 0, 1), Numbers({5, 11, 12}));
  EXPECT_EQ(ReadContext(*manager, 0, 2), Numbers({12, 21, 22}));
  EXPECT_EQ(ReadContext(*manager, 0, 3), Numbers({22, 31, 32}));
}

TEST(KVCacheManager, ShortContextLengthsWork) {
  for (const int64_t context_length : {1, 2, 3}) {
    KVCacheManagerConfig config = SmallConfig();
    config.context_length = context_length;
    auto manager = MakeManager(config);
    StoreChain(*manager, 0);
    const Numbers path = {5, 11, 12, 21, 22};
    const Numbers expected(path.end() - (context_length - 1), path.end());
    EXPECT_EQ(ReadContext(*manager, 0, 2), expected);
    HostBatch batch(config, 2);
    ASSERT_TRUE(manager->CloneInto({Key(0, 2)}, batch.views()).ok());
    EXPECT_EQ(ReadRow(batch, 0), expected);
    EXPECT_EQ(ReadRow(batch, 1), Numbers());
  }
}

TEST(KVCacheManager, PrefixIsTheRootsShareAndSuffixThePaths) {
  KVCacheManagerConfig config = SmallConfig();
  auto manager = MakeManager(config);
  manager->InvalidateWeights(4);
  StoreChain(*manager, 0);
  const std::vector<std::pair<int64_t, int64_t>> expected = {{5, 5}, {7, 5}, {7, 3}, {7, 1}};
  for (int64_t node = 0; node < 4; ++node) {
    const KVCache clone = *manager->Clone(EnvId(0), NodeId(node));
    EXPECT_EQ(clone.size(), expected[node].first);
    EXPECT_EQ(clone.prefix_size(), expected[node].second);
    EXPECT_EQ(clone.weight_version(), 4);
    EXPECT_EQ(clone.kind(), CacheStorage::kStatic);
    EXPECT_EQ(clone.capacity(), 9) << "the context and one more step";
  }
  EXPECT_EQ(manager->CloneInit(EnvId(0), 0)->prefix_size(), 5);
  EXPECT_EQ(manager->CloneRecurrent(EnvId(0), NodeId(3))->prefix_size(), 1);
}

TEST(KVCacheManager, StoreInitKeepsTheNewestTokensOfALongCache) {
  auto manager = MakeManager(SmallConfig());
  const KVCache longer = MakeCache({2, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, longer).ok());
  EXPECT_EQ(ReadContext(*manager, 0, 0), Numbers({3, 4, 5, 6, 7, 8, 9}));
  ASSERT_TRUE(manager->StoreInit(EnvId(1), 0, MakeCache({2, 3}, {})).ok());
  EXPECT_EQ(ReadContext(*manager, 1, 0), Numbers());
}

TEST(KVCacheManager, InitEntriesAreKeyedByStepAndTheNewestIsTheRoot) {
  auto manager = MakeManager(SmallConfig());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 6, MakeCache({2, 3}, {6})).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 5, MakeCache({2, 3}, {5})).ok());
  EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(0), 5)), Numbers({5}));
  EXPECT_EQ(ReadTokens(*manager->CloneInit(EnvId(0), 6)), Numbers({6}));
  EXPECT_EQ(ReadContext(*manager, 0, 0), Numbers({6}));
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 6, MakeCache({2, 3}, {66, 67})).ok());
  EXPECT_EQ(ReadContext(*manager, 0, 0), Numbers({66, 67}));
  EXPECT_TRUE(manager->HasInit(EnvId(0), 5));
  manager->RetireInit(EnvId(0), 6);
  EXPECT_FALSE(manager->HasInit(EnvId(0), 5));
  EXPECT_TRUE(manager->HasInit(EnvId(0), 6));
  EXPECT_FALSE(manager->HasInit(EnvId(1), 6));
}

TEST(KVCacheManager, NodesDieWithTheRootTheyHangOn) {
  auto manager = MakeManager(SmallConfig());
  StoreChain(*manager, 0);
  StoreChain(*manager, 1);
  // A newer root does not change where older nodes hang.
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 1, MakeCache({2, 3}, {9})).ok());
  EXPECT_EQ(ReadContext(*manager, 0, 1), Numbers({1, 2, 3, 4, 5, 11, 12}));
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 4)}, MakeRows({2, 3}, {{41, 42}})).ok());
  EXPECT_EQ(ReadContext(*manager, 0, 4), Numbers({9, 41, 42}));
  manager->RetireInit(EnvId(0), 1);
  EXPECT_TRUE(Says(manager->Clone(EnvId(0), NodeId(3)).status(), StatusCode::kNotFound,
                   {"environment 0", "node 3", "replaced or retired"}));
  EXPECT_EQ(ReadContext(*manager, 0, 4), Numbers({9, 41, 42}));
  EXPECT_EQ(ReadContext(*manager, 1, 1), Numbers({1, 2, 3, 4, 5, 11, 12}));
}

TEST(KVCacheManager, CloneIntoFillsRowsRightAlignedAndEmptiesTheRest) {
  const KVCacheManagerConfig config = SmallConfig();
  auto manager = MakeManager(config);
  StoreChain(*manager, 0);
  ASSERT_TRUE(manager->StoreInit(EnvId(1), 4, MakeCache({2, 3}, {7, 8})).ok());
  HostBatch batch(config, 5);
  const std::vector<ContextKey> keys = {Key(1, 0), Key(0, 3), Key(0, 0), Key(0, 3)};
  ASSERT_TRUE(manager->CloneInto(keys, batch.views()).ok());
  EXPECT_EQ(ReadRow(batch, 0), Numbers({7, 8}));
  EXPECT_EQ(ReadRow(batch, 1), Numbers({5, 11, 12, 21, 22, 31, 32}));
  EXPECT_EQ(ReadRow(batch, 2), Numbers({1, 2, 3, 4, 5}));
  EXPECT_EQ(ReadRow(batch, 3), Numbers({5, 11, 12, 21, 22, 31, 32}));
  EXPECT_EQ(ReadRow(batch, 4), Numbers());
  EXPECT_EQ(batch.lengths(), Numbers({2, 7, 5, 7, 0}));
  ASSERT_TRUE(manager->CloneInto({}, batch.views()).ok());
  EXPECT_TRUE(AllAre(batch.tokens(), 0.0f));
  EXPECT_EQ(batch.lengths(), Numbers(5, 0));
}

TEST(KVCacheManager, CloneIntoThatFailsLeavesTheBuffersAlone) {
  const KVCacheManagerConfig config = SmallConfig();
  auto manager = MakeManager(config);
  StoreChain(*manager, 0);
  HostBatch batch(config, 3);
  EXPECT_TRUE(Says(manager->CloneInto({Key(0, 1), Key(0, 5)}, batch.views()), StatusCode::kNotFound,
                   {"row 1", "environment 0", "node 5", "not stored in this search"}));
  EXPECT_TRUE(AllAre(batch.tokens(), -7.0f));
  EXPECT_EQ(batch.lengths(), Numbers(3, -7));
}

TEST(KVCacheManager, BeginSearchForgetsNodesAndKeepsRoots) {
  auto manager = MakeManager(SmallConfig());
  StoreChain(*manager, 0);
  StoreChain(*manager, 1);
  manager->BeginSearch({EnvId(0)});
  EXPECT_EQ(ReadContext(*manager, 0, 0), Numbers({1, 2, 3, 4, 5}));
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(1)).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadContext(*manager, 1, 1), Numbers({1, 2, 3, 4, 5, 11, 12}));
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, MakeRows({2, 3}, {{51, 52}})).ok());
  EXPECT_EQ(ReadContext(*manager, 0, 1), Numbers({1, 2, 3, 4, 5, 51, 52}));
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(2)).status().code(), StatusCode::kNotFound);
}

TEST(KVCacheManager, EndEpisodeForgetsOneEnvironment) {
  auto manager = MakeManager(SmallConfig());
  StoreChain(*manager, 0);
  StoreChain(*manager, 1);
  manager->EndEpisode(EnvId(0));
  EXPECT_FALSE(manager->HasInit(EnvId(0), 0));
  EXPECT_TRUE(Says(manager->Clone(EnvId(0), NodeId(0)).status(), StatusCode::kNotFound,
                   {"environment 0", "an init entry", "in this episode"}));
  EXPECT_TRUE(Says(manager->CloneInit(EnvId(0), 0).status(), StatusCode::kNotFound,
                   {"environment 0", "the init entry of step 0"}));
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(1)).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(ReadContext(*manager, 1, 2), Numbers({3, 4, 5, 11, 12, 21, 22}));
  // Both entries are free again: a new episode fits.
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache({2, 3}, {1})).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 1, MakeCache({2, 3}, {2})).ok());
}

TEST(KVCacheManager, CreateRefusesAndNamesTheValue) {
  const auto refused = [](auto change, StatusCode code, const std::vector<std::string>& parts) {
    KVCacheManagerConfig config = SmallConfig();
    change(config);
    return Says(KVCacheManager::Create(config).status(), code, parts);
  };
  using Config = KVCacheManagerConfig;
  const StatusCode invalid = StatusCode::kInvalidArgument;
  EXPECT_TRUE(refused([](Config& c) { c.shape.num_layers = 0; }, invalid, {"num_layers is 0"}));
  EXPECT_TRUE(refused([](Config& c) { c.shape.embed_dim = -1; }, invalid, {"embed_dim is -1"}));
  EXPECT_TRUE(refused([](Config& c) { c.context_length = 0; }, invalid,
                      {"context_length is 0", "at least 1"}));
  EXPECT_TRUE(refused([](Config& c) { c.num_envs = 0; }, invalid, {"num_envs is 0"}));
  EXPECT_TRUE(refused([](Config& c) { c.nodes_per_env = 0; }, invalid, {"nodes_per_env is 0"}));
  EXPECT_TRUE(
      refused([](Config& c) { c.init_steps_per_env = 0; }, invalid, {"init_steps_per_env is 0"}));
  EXPECT_TRUE(refused([](Config& c) { c.nodes_per_env = int64_t{1} << 31; }, invalid,
                      {"2147483648 nodes", "can be counted"}));
  EXPECT_TRUE(refused([](Config& c) { c.num_envs = int64_t{1} << 40; },
                      StatusCode::kResourceExhausted,
                      {"num_envs 1099511627776", "nodes_per_env 6", "bytes, this machine has"}));
}

TEST(KVCacheManager, StoreInitRefusesWhatDoesNotFitAndNamesBoth) {
  auto manager = MakeManager(SmallConfig());
  const KVCache good = MakeCache({2, 3}, {1});
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(2), 0, good), StatusCode::kInvalidArgument,
                   {"environment 2 is outside 0 .. 1", "num_envs is 2"}));
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), -1, good), StatusCode::kInvalidArgument,
                   {"environment 0, step -1", "begin at 0"}));
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), 3, MakeCache({1, 3}, {1})),
                   StatusCode::kInvalidArgument,
                   {"environment 0, step 3", "1 layers of 3,", "the manager 2 of 3"}));
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), 3, MakeCache({2, 4}, {1})),
                   StatusCode::kInvalidArgument, {"2 layers of 4,", "the manager 2 of 3"}));
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 3, good).ok());
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 4, good).ok());
  EXPECT_TRUE(Says(manager->StoreInit(EnvId(0), 5, good), StatusCode::kResourceExhausted,
                   {"environment 0, step 5", "2 init entries", "steps 3, 4",
                    "raise init_steps_per_env to at least 3"}));
  EXPECT_EQ(manager->stats().refused_stores, 5);
  EXPECT_EQ(manager->stats().stores, 2);
  EXPECT_TRUE(manager->HasInit(EnvId(0), 3));
  EXPECT_TRUE(manager->HasInit(EnvId(0), 4));
}

TEST(KVCacheManager, StoreRecurrentRefusesWhatDoesNotFitAndChangesNothing) {
  auto manager = MakeManager(SmallConfig());
  StoreChain(*manager, 0);
  const HostRows rows = MakeRows({2, 3}, {{51, 52}, {61, 62}});
  const std::string before = PoolBytes(*manager);
  const auto refused = [&](const std::vector<ChildKey>& children, Rows<const float> tokens,
                           StatusCode code, const std::vector<std::string>& parts) {
    return Says(manager->StoreRecurrent(children, tokens), code, parts);
  };
  const StatusCode invalid = StatusCode::kInvalidArgument;
  const std::vector<ChildKey> good = {Child(0, 0, 4), Child(0, 1, 5)};
  const std::string allowed = "must be rows of 24 numbers on cpu";
  const float* numbers = rows.numbers.data();
  EXPECT_TRUE(refused(good, {numbers, 4, 12}, invalid, {"rows of 12 numbers on cpu", allowed}));
  EXPECT_TRUE(refused(good, {numbers, 2, 16}, invalid, {"rows of 16 numbers on cpu", allowed}));
  EXPECT_TRUE(refused(good, {numbers, 1, 48}, invalid, {"rows of 48 numbers on cpu", allowed}));
  EXPECT_TRUE(refused(good, {numbers, 2, 24, Device::kCuda}, invalid,
                      {"rows of 24 numbers on cuda", allowed}));
  EXPECT_TRUE(refused(good, {}, invalid, {"rows of 0 numbers on cpu", allowed}));
  EXPECT_TRUE(refused(good, {numbers, 1, 24}, invalid, {"1 rows", "2 children"}));
  EXPECT_TRUE(refused({Child(0, 0, 4), Child(2, 0, 1)}, rows, invalid,
                      {"row 1", "environment 2 is outside 0 .. 1"}));
  EXPECT_TRUE(refused({Child(0, -1, 4)}, rows, invalid, {"node -1", "begin at 0"}));
  EXPECT_TRUE(refused({Child(0, 0, 0)}, rows, invalid, {"stores node 0", "begins at 1"}));
  EXPECT_TRUE(refused({Child(0, 0, 4), Child(0, 1, 4)}, rows, invalid, {"row 1", "another row"}));
  EXPECT_TRUE(refused({Child(0, 0, 4), Child(0, 5, 4)}, rows, StatusCode::kNotFound,
                      {"parent of row 1", "environment 0", "node 5"}));
  EXPECT_TRUE(refused({Child(1, 0, 1)}, rows, StatusCode::kNotFound, {"environment 1"}));
  EXPECT_TRUE(refused({Child(0, 0, 4), Child(0, 0, 3)}, rows, StatusCode::kAlreadyExists,
                      {"row 1", "node 3 of environment 0", "BeginSearch"}));
  EXPECT_TRUE(refused({Child(0, 0, 4), Child(0, 1, 6)}, rows, StatusCode::kResourceExhausted,
                      {"environment 0", "node 6", "0 .. 5", "nodes_per_env", "at least 7"}));
  EXPECT_EQ(PoolBytes(*manager), before);
  EXPECT_EQ(manager->Clone(EnvId(0), NodeId(4)).status().code(), StatusCode::kNotFound);
  EXPECT_EQ(manager->stats().stores, 4);
  EXPECT_EQ(manager->stats().refused_stores, 6 * 2 + 2 + 1 + 1 + 2 + 2 + 1 + 2 + 2);
  EXPECT_TRUE(manager->StoreRecurrent(good, rows).ok());
}

TEST(KVCacheManager, CloneIntoRefusesBuffersThatDoNotFit) {
  const KVCacheManagerConfig config = SmallConfig();
  auto manager = MakeManager(config);
  StoreChain(*manager, 0);
  HostBatch buffers(config, 2);
  const ContextBatch good = buffers.views();
  const Rows<float> tokens = good.tokens;
  const Rows<int64_t> lengths = good.lengths;
  const auto refused = [&](ContextBatch batch, size_t num_keys,
                           const std::vector<std::string>& parts) {
    const std::vector<ContextKey> keys(num_keys, Key(0, 1));
    return Says(manager->CloneInto(keys, batch), StatusCode::kInvalidArgument, parts);
  };
  EXPECT_TRUE(refused({{tokens.numbers, 2, 72}, lengths}, 1,
                      {"tokens of CloneInto", "rows of 72 numbers", "rows of 84 numbers"}));
  EXPECT_TRUE(refused({{tokens.numbers, 1, 168}, lengths}, 1,
                      {"tokens of CloneInto", "rows of 168 numbers", "rows of 84 numbers"}));
  EXPECT_TRUE(refused({{tokens.numbers, 2, 84, Device::kCuda}, lengths}, 1,
                      {"tokens of CloneInto", "on cuda, must be", "on cpu"}));
  EXPECT_TRUE(refused({{}, lengths}, 1, {"rows of 0 numbers", "rows of 84 numbers"}));
  EXPECT_TRUE(refused({tokens, {lengths.numbers, 1, 2}}, 1,
                      {"lengths of CloneInto", "rows of 2 numbers", "rows of 1 numbers"}));
  EXPECT_TRUE(refused({tokens, {lengths.numbers, 2, 1, Device::kCuda}}, 1,
                      {"lengths of CloneInto", "on cuda, must be", "on cpu"}));
  EXPECT_TRUE(refused({tokens, {}}, 1, {"rows of 0 numbers", "rows of 1 numbers"}));
  EXPECT_TRUE(refused(good, 3, {"3 keys", "2 rows"}));
  EXPECT_TRUE(Says(manager->CloneInto({Key(7, 0)}, buffers.views()), StatusCode::kInvalidArgument,
                   {"row 0", "environment 7"}));
  EXPECT_EQ(manager->stats().hits + manager->stats().misses, 0);
  EXPECT_TRUE(AllAre(buffers.tokens(), -7.0f));
  EXPECT_EQ(buffers.lengths(), Numbers(2, -7));
}

TEST(KVCacheManager, TheRootIsNotInTheRecurrentPool) {
  auto manager = MakeManager(SmallConfig());
  StoreChain(*manager, 0);
  EXPECT_TRUE(Says(manager->CloneRecurrent(EnvId(0), NodeId(0)).status(), StatusCode::kNotFound,
                   {"node 0", "init pool"}));
  EXPECT_TRUE(Says(manager->CloneRecurrent(EnvId(0), NodeId(-2)).status(),
                   StatusCode::kInvalidArgument, {"node -2"}));
  EXPECT_TRUE(Says(manager->CloneInit(EnvId(9), 0).status(), StatusCode::kInvalidArgument,
                   {"environment 9"}));
}

TEST(KVCacheManager, StatsAreExact) {
  KVCacheManagerConfig config = SmallConfig();
  auto manager = MakeManager(config);
  const int64_t token_bytes = 2 * 2 * 3 * 4;
  const int64_t pool_bytes = token_bytes * (1 + 2 * (2 * 7 + 5 * 2));
  EXPECT_EQ(manager->stats().bytes, pool_bytes);
  EXPECT_EQ(manager->stats().peak_bytes, pool_bytes);
  StoreChain(*manager, 0);                                          // 4 stores
  EXPECT_TRUE(manager->CloneInit(EnvId(0), 0).ok());                // 1 hop
  EXPECT_TRUE(manager->Clone(EnvId(0), NodeId(2)).ok());            // 3 hops
  EXPECT_FALSE(manager->CloneInit(EnvId(0), 1).ok());               // miss
  EXPECT_FALSE(manager->CloneRecurrent(EnvId(1), NodeId(1)).ok());  // miss
  HostBatch batch(config, 3);
  // 2 + 4 hops; then 2 hops, a hit and a miss.
  EXPECT_TRUE(manager->CloneInto({Key(0, 1), Key(0, 3)}, batch.views()).ok());
  EXPECT_FALSE(manager->CloneInto({Key(0, 1), Key(1, 0)}, batch.views()).ok());
  manager->InvalidateWeights(1);
  EXPECT_FALSE(manager->Clone(EnvId(0), NodeId(0)).ok());  // stale
  EXPECT_FALSE(manager->Clone(EnvId(0), NodeId(1)).ok());  // stale
  const KVCacheStats& stats = manager->stats();
  EXPECT_EQ(stats.stores, 4);
  EXPECT_EQ(stats.clones, 4);
  EXPECT_EQ(stats.hits, 5);
  EXPECT_EQ(stats.misses, 3);
  EXPECT_EQ(stats.stale_reads, 2);
  EXPECT_EQ(stats.carried_reads, 0);
  EXPECT_EQ(stats.refused_stores, 0);
  EXPECT_EQ(stats.path_hops, 1 + 3 + 2 + 4 + 2);
  EXPECT_EQ(stats.bytes, pool_bytes);
}

TEST(KVCacheManager, ConfigIsWhatWasAskedFor) {
  const auto manager = MakeManager(SmallConfig());
  EXPECT_EQ(manager->config().context_length, 8);
  EXPECT_EQ(manager->config().num_envs, 2);
  EXPECT_EQ(manager->config().device, Device::kCpu);
  EXPECT_EQ(manager->weight_version(), 0);
}

TEST(KVCacheManagerDeathTest, CallersBugsStopTheProgram) {
  auto manager = MakeManager(SmallConfig());
  manager->InvalidateWeights(3);
  EXPECT_DEATH(manager->InvalidateWeights(2), "weights version 2 after version 3");
  EXPECT_DEATH(manager->BeginSearch({EnvId(2)}), "environment 2 is outside 0 .. 1");
  EXPECT_DEATH(manager->HasInit(EnvId(-1), 0), "environment -1 is outside 0 .. 1");
}

}  // namespace
}  // namespace lzero::kv_cache_manager_test
