// Contexts that a search on a device gathers from lent slots, against those that the manager
// clones: random trees, windows and root lengths, idle rows; and what is lent when.
#include "lzero/kv_cache/search_contexts.h"

#include <gmock/gmock.h>

#include <numeric>
#include <vector>

#include "lzero/base/rng.h"
#include "tests/kv_cache/cache_testing.h"
#include "tests/kv_cache/plain_contexts.h"

namespace lzero::search_contexts_test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr int kIdleRows = 2;

// A search over lent slots: the buffers of the model, and rows for every environment and two more.
class LentSearch {
 public:
  LentSearch(const KVCacheManagerConfig& config, KVCacheManager* manager)
      : num_rows_(config.num_envs + kIdleRows),
        row_size_(LentRowSize(config.context_length - 1)),
        lent_(num_rows_ * row_size_, 0),
        parents_(num_rows_ * config.nodes_per_env, -1),
        nodes_(num_rows_, 0),
        actions_(num_rows_, 0),
        children_(num_rows_, 1),
        batch_(MakeBatch(config, num_rows_)),
        tokens_(at::zeros({num_rows_, 2, config.shape.num_layers, 2, config.shape.embed_dim})),
        numbers_(at::zeros({num_rows_}, at::kLong)) {
    contexts_ = {static_cast<float*>(const_cast<void*>(manager->storage_address())),
                 lent_.data(),
                 parents_.data(),
                 config.shape.num_layers * 2 * config.shape.embed_dim,
                 static_cast<int32_t>(config.context_length - 1),
                 static_cast<int32_t>(config.nodes_per_env)};
    step_ = {nodes_.data(),
             actions_.data(),
             children_.data(),
             tokens_.const_data_ptr<float>(),
             batch_.tokens.mutable_data_ptr<float>(),
             batch_.lengths.mutable_data_ptr<int64_t>(),
             numbers_.mutable_data_ptr<int64_t>()};
  }

  absl::Status Lend(KVCacheManager& manager, const std::vector<EnvId>& envs) {
    return manager.LendNodes(envs, absl::MakeSpan(lent_));
  }
  void Ask(int row, int32_t node, int32_t action, int32_t child) {
    nodes_[row] = node;
    actions_[row] = action;
    children_[row] = child;
  }
  void Gather() {
    PlainContextFunctions().gather(&contexts_, &step_, static_cast<int>(num_rows_), nullptr);
  }
  void Store() {
    PlainContextFunctions().store(&contexts_, &step_, static_cast<int>(num_rows_), nullptr);
  }
  at::Tensor& tokens() { return tokens_; }
  const ContextBatch& batch() const { return batch_; }
  const at::Tensor& action_numbers() const { return numbers_; }
  absl::Span<const int64_t> lent(int row) const {
    return absl::MakeConstSpan(lent_).subspan(row * row_size_, row_size_);
  }

 private:
  int64_t num_rows_, row_size_;
  std::vector<int64_t> lent_;
  std::vector<int32_t> parents_, nodes_, actions_, children_;
  ContextBatch batch_;
  at::Tensor tokens_, numbers_;
  SearchContexts contexts_;
  ContextStep step_;
};

KVCacheManagerConfig RandomConfig(RandomStream& random) {
  KVCacheManagerConfig config;
  config.shape = {1 + random.UniformInt(3), 1 + random.UniformInt(5)};
  config.context_length = 1 + random.UniformInt(12);
  config.num_envs = 1 + random.UniformInt(5);
  config.nodes_per_env = 2 + random.UniformInt(25);
  return config;
}

void StoreRandomRoot(RandomStream& random, const KVCacheManagerConfig& config, int64_t env,
                     int64_t step, const std::vector<KVCacheManager*>& managers) {
  std::vector<int64_t> names(random.UniformInt(config.context_length + 3));
  for (int64_t& name : names) name = 1 + random.UniformInt(900);
  const KVCache cache = MakeCache(config.shape, names);
  for (KVCacheManager* manager : managers) {
    ASSERT_TRUE(manager->StoreInit(EnvId(env), step, cache).ok());
  }
}

// One search over all of `envs` on both; every context of every simulation is compared.
void CompareSearch(RandomStream& random, const KVCacheManagerConfig& config,
                   const std::vector<EnvId>& envs, KVCacheManager& cloned, KVCacheManager& lender) {
  const auto num_roots = static_cast<int64_t>(envs.size());
  LentSearch search(config, &lender);
  cloned.BeginSearch(envs);
  ASSERT_TRUE(search.Lend(lender, envs).ok());
  ContextBatch expected = MakeBatch(config, config.num_envs + kIdleRows);
  for (int32_t child = 1; child < config.nodes_per_env; ++child) {
    std::vector<ContextKey> keys;
    std::vector<ChildKey> children;
    for (int64_t row = 0; row < num_roots; ++row) {
      const auto parent = static_cast<int32_t>(random.UniformInt(child));
      keys.push_back({envs[row], NodeId(parent)});
      children.push_back({envs[row], NodeId(parent), NodeId(child)});
      search.Ask(static_cast<int>(row), parent, child + 7, child);
    }
    for (int idle = 0; idle < kIdleRows; ++idle) {
      search.Ask(static_cast<int>(num_roots) + idle, 0, 0, child);
    }
    ASSERT_TRUE(cloned.CloneInto(keys, &expected).ok());
    search.Gather();
    ASSERT_TRUE(at::equal(search.batch().tokens.narrow(0, 0, num_roots + kIdleRows),
                          expected.tokens.narrow(0, 0, num_roots + kIdleRows)));
    ASSERT_TRUE(at::equal(search.batch().lengths.narrow(0, 0, num_roots + kIdleRows),
                          expected.lengths.narrow(0, 0, num_roots + kIdleRows)));
    ASSERT_EQ(search.action_numbers()[0].item<int64_t>(), child + 7);
    ASSERT_EQ(search.action_numbers()[num_roots].item<int64_t>(), 0);
    search.tokens().uniform_();
    ASSERT_TRUE(cloned.StoreRecurrent(children, search.tokens()).ok());
    search.Store();
  }
  EXPECT_EQ(PoolBytes(cloned), PoolBytes(lender));  // idle rows wrote nothing
}

TEST(SearchContextsTest, RandomSearchesGatherWhatTheManagerClones) {
  RandomStream random(11, "search contexts");
  for (int round = 0; round < 150; ++round) {
    SCOPED_TRACE(round);
    const KVCacheManagerConfig config = RandomConfig(random);
    const auto cloned = MakeManager(config), lender = MakeManager(config);
    for (int64_t step = 0; step < 3; ++step) {
      std::vector<EnvId> envs;
      for (int64_t env = config.num_envs; env-- > 0;) {
        StoreRandomRoot(random, config, env, step, {cloned.get(), lender.get()});
        cloned->RetireInit(EnvId(env), step);
        lender->RetireInit(EnvId(env), step);
        if (envs.empty() || random.UniformInt(3) > 0) envs.push_back(EnvId(env));
      }
      CompareSearch(random, config, envs, *cloned, *lender);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(SearchContextsTest, ARowNamesTheRootsSlotsItsLengthAndTheFirstNode) {
  const KVCacheManagerConfig config = SmallConfig();  // W - 1 = 7, 2 roots, 5 nodes with tokens
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(1), 0, MakeCache(config.shape, {5, 6, 7})).ok());
  LentSearch search(config, manager.get());
  ASSERT_TRUE(search.Lend(*manager, {EnvId(1)}).ok());
  // Slot 0 is zeros; environment 0 has 2 * 7 + 5 * 2 = 24 slots. The index may order the roots of
  // both environments as it likes, so only what a row must be is checked.
  const auto row = search.lent(0);
  EXPECT_THAT(row.first(4), ElementsAre(0, 0, 0, 0));
  EXPECT_EQ(row[5], row[4] + 1);
  EXPECT_EQ(row[6], row[4] + 2);
  EXPECT_EQ(row[7], 3);
  EXPECT_GT(row[8], 0);
  EXPECT_THAT(search.lent(1), Each(0));
  EXPECT_EQ(manager->stats().hits, 1);
}

TEST(SearchContextsTest, LendingForgetsTheNodesOfTheSearchBefore) {
  const KVCacheManagerConfig config = SmallConfig();
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1})).ok());
  ASSERT_TRUE(manager->StoreRecurrent({Child(0, 0, 1)}, MakeRows(config.shape, {{2, 3}})).ok());
  LentSearch search(config, manager.get());
  ASSERT_TRUE(search.Lend(*manager, {EnvId(0)}).ok());
  EXPECT_FALSE(manager->Clone(EnvId(0), NodeId(1)).ok());
}

TEST(SearchContextsTest, WhatCannotBeLentIsRefused) {
  KVCacheManagerConfig config = SmallConfig();
  const auto manager = MakeManager(config);
  LentSearch search(config, manager.get());
  EXPECT_EQ(search.Lend(*manager, {EnvId(0)}).code(), absl::StatusCode::kNotFound);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1})).ok());
  manager->InvalidateWeights(1);
  EXPECT_EQ(search.Lend(*manager, {EnvId(0)}).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(manager->stats().misses, 1);
  EXPECT_EQ(manager->stats().stale_reads, 1);
  config.storage = CacheStorage::kGrowing;
  const auto growing = MakeManager(config);
  ASSERT_TRUE(growing->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1})).ok());
  const absl::Status refused = search.Lend(*growing, {EnvId(0)});
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("growing storage lends no nodes"));
}

}  // namespace
}  // namespace lzero::search_contexts_test
