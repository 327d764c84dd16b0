// Contexts that a search on a device gathers from lent slots, against those that the manager
// clones: random trees, windows and root lengths, idle rows; and what is lent when.
#include "lzero/kv_cache/search_contexts.h"

#include <gmock/gmock.h>

#include <algorithm>
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
        window_(config.context_length - 1),
        token_size_(config.shape.token_size()),
        pool_(static_cast<float*>(const_cast<void*>(manager->storage_address()))),
        numbers_(num_rows_ * StepRowSize(static_cast<int>(window_), 0), -7),
        batch_(config, num_rows_),
        tokens_{std::vector<float>(num_rows_ * 2 * token_size_), 2 * token_size_} {
    contexts_ = {lent_.data(), parents_.data(), static_cast<int32_t>(window_),
                 static_cast<int32_t>(config.nodes_per_env)};
    step_ = {nodes_.data(), actions_.data(), children_.data(), numbers_.data()};
  }

  absl::Status Lend(KVCacheManager& manager, const std::vector<EnvId>& envs) {
    return manager.LendNodes(envs, absl::MakeSpan(lent_));
  }
  void Ask(int row, int32_t node, int32_t action, int32_t child) {
    nodes_[row] = node;
    actions_[row] = action;
    children_[row] = child;
  }
  // As the kernels of a step do: contexts out of the slots of each row, tokens into those of its
  // child.
  void Gather() {
    PlainContextFunctions().prepare_rows(&contexts_, &step_, static_cast<int>(num_rows_), nullptr);
    std::fill(batch_.tokens().begin(), batch_.tokens().end(), 0.0f);
    float* to = batch_.tokens().data();
    for (int64_t row = 0; row < num_rows_; ++row) {
      const int64_t length = numbers(row)[window_];
      batch_.lengths()[row] = length;
      for (int64_t position = window_ - length; position < window_; ++position) {
        std::copy_n(pool_ + numbers(row)[position] * token_size_, token_size_,
                    to + (row * window_ + position) * token_size_);
      }
    }
  }
  void Store() {
    const float* from = tokens_.numbers.data();
    for (int64_t row = 0; row < num_rows_; ++row) {
      const int64_t slot = numbers(row)[window_ + 1];
      if (slot == kIdleSlot) continue;
      std::copy_n(from + row * 2 * token_size_, 2 * token_size_, pool_ + slot * token_size_);
    }
  }
  absl::Span<const int64_t> numbers(int64_t row) const {
    const int64_t size = StepRowSize(static_cast<int>(window_), 0);
    return absl::MakeConstSpan(numbers_).subspan(row * size, size);
  }
  HostRows& tokens() { return tokens_; }
  const HostBatch& batch() const { return batch_; }
  int64_t action(int64_t row) const { return numbers(row)[window_ + 2]; }
  absl::Span<const int64_t> lent(int row) const {
    return absl::MakeConstSpan(lent_).subspan(row * row_size_, row_size_);
  }

 private:
  int64_t num_rows_, row_size_;
  std::vector<int64_t> lent_;
  std::vector<int32_t> parents_, nodes_, actions_, children_;
  int64_t window_, token_size_;
  float* pool_;
  std::vector<int64_t> numbers_;  // what a step reads
  HostBatch batch_;
  HostRows tokens_;
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

void FillUniform(RandomStream& random, HostRows& rows) {
  for (float& number : rows.numbers) number = static_cast<float>(random.Uniform());
}

// One search over all of `envs` on both; every context of every simulation is compared.
void CompareSearch(RandomStream& random, const KVCacheManagerConfig& config,
                   const std::vector<EnvId>& envs, KVCacheManager& cloned, KVCacheManager& lender) {
  const auto num_roots = static_cast<int64_t>(envs.size());
  LentSearch search(config, &lender);
  cloned.BeginSearch(envs);
  ASSERT_TRUE(search.Lend(lender, envs).ok());
  HostBatch expected(config, config.num_envs + kIdleRows);
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
    ASSERT_TRUE(cloned.CloneInto(keys, expected.views()).ok());
    search.Gather();
    for (int64_t row = 0; row < num_roots + kIdleRows; ++row) {
      ASSERT_EQ(search.batch().row(row), expected.row(row));
      ASSERT_EQ(search.batch().lengths()[row], expected.lengths()[row]);
    }
    ASSERT_EQ(search.action(0), child + 7);
    ASSERT_EQ(search.action(num_roots), 0);
    FillUniform(random, search.tokens());
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

// One search over all environments on both: what a step is lent are the contexts that are cloned,
// and what it writes is what is stored.
void CompareSteps(RandomStream& random, const KVCacheManagerConfig& config, KVCacheManager& cloned,
                  KVCacheManager& lender) {
  const int64_t window = config.context_length - 1, row_size = window + 3;
  const int64_t token_size = config.shape.token_size();
  auto* pool = static_cast<float*>(const_cast<void*>(lender.storage_address()));
  HostBatch expected(config, config.num_envs);
  HostRows tokens = {std::vector<float>(config.num_envs * 2 * token_size), 2 * token_size};
  std::vector<int64_t> rows(config.num_envs * row_size);
  for (int32_t child = 1; child < config.nodes_per_env; ++child) {
    std::vector<ContextKey> keys;
    std::vector<ChildKey> children;
    for (int32_t env = 0; env < config.num_envs; ++env) {
      const NodeId parent(static_cast<int32_t>(random.UniformInt(child)));
      keys.push_back({EnvId(env), parent});
      children.push_back({EnvId(env), parent, NodeId(child)});
    }
    FillUniform(random, tokens);
    ASSERT_TRUE(cloned.CloneInto(keys, expected.views()).ok());
    ASSERT_TRUE(cloned.StoreRecurrent(children, tokens).ok());
    ASSERT_TRUE(lender.LendStep(keys, children, absl::MakeSpan(rows), row_size).ok());
    for (int64_t row = 0; row < config.num_envs; ++row) {
      const int64_t* numbers = rows.data() + row * row_size;
      const int64_t length = numbers[window];
      ASSERT_EQ(length, expected.lengths()[row]);
      for (int64_t position = window - length; position < window; ++position) {
        const float* slot = pool + numbers[position] * token_size;
        const auto token = expected.row(row).subspan(position * token_size, token_size);
        ASSERT_TRUE(std::equal(token.begin(), token.end(), slot));
      }
      std::copy_n(tokens.numbers.data() + row * 2 * token_size, 2 * token_size,
                  pool + numbers[window + 1] * token_size);
    }
  }
  EXPECT_EQ(PoolBytes(cloned), PoolBytes(lender));
  EXPECT_EQ(cloned.stats().stores, lender.stats().stores);
  EXPECT_EQ(cloned.stats().hits, lender.stats().hits);
}

TEST(SearchContextsTest, StepsAreLentWhatIsClonedAndStored) {
  RandomStream random(12, "steps");
  for (int round = 0; round < 100; ++round) {
    SCOPED_TRACE(round);
    const KVCacheManagerConfig config = RandomConfig(random);
    const auto cloned = MakeManager(config), lender = MakeManager(config);
    for (int64_t env = 0; env < config.num_envs; ++env) {
      StoreRandomRoot(random, config, env, 0, {cloned.get(), lender.get()});
    }
    CompareSteps(random, config, *cloned, *lender);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(SearchContextsTest, AStepThatCannotBeLentMakesNoEntry) {
  const KVCacheManagerConfig config = SmallConfig();
  const auto manager = MakeManager(config);
  ASSERT_TRUE(manager->StoreInit(EnvId(0), 0, MakeCache(config.shape, {1})).ok());
  const int64_t row_size = config.context_length + 2;
  std::vector<int64_t> rows(2 * row_size);
  const auto lend = [&](const std::vector<ChildKey>& children) {
    std::vector<ContextKey> keys;
    for (const ChildKey& child : children) keys.push_back({child.env, child.parent});
    return manager->LendStep(keys, children, absl::MakeSpan(rows), row_size).code();
  };
  EXPECT_EQ(lend({Child(0, 0, 1), Child(1, 0, 1)}), absl::StatusCode::kNotFound);
  EXPECT_EQ(lend({Child(0, 0, 1), Child(0, 0, 1)}), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(lend({Child(0, 0, static_cast<int32_t>(config.nodes_per_env))}),
            absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(manager->Clone(EnvId(0), NodeId(1)).ok());
  EXPECT_EQ(lend({Child(0, 0, 1)}), absl::StatusCode::kOk);
  EXPECT_TRUE(manager->Clone(EnvId(0), NodeId(1)).ok());
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
