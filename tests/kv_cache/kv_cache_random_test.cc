// Random trees of random sizes under random sequences of every verb, compared after each step with
// a store that keeps a deep copy of every context.

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/rng.h"
#include "tests/kv_cache/cache_testing.h"
#include "tests/kv_cache/naive_store.h"

namespace lzero::kv_cache_random_test {
namespace {

using absl::StatusCode;

// Drives a manager and the naive store with the same calls.
class Comparison {
 public:
  explicit Comparison(uint64_t seed) : random_(seed, "random_test") {
    config_.shape = {1 + random_.UniformInt(3), 1 + random_.UniformInt(5)};
    config_.context_length = 1 + random_.UniformInt(12);
    config_.num_envs = 1 + random_.UniformInt(4);
    config_.nodes_per_env = 1 + random_.UniformInt(20);
    config_.init_steps_per_env = 1 + random_.UniformInt(3);
    config_.storage = random_.UniformInt(2) == 0 ? CacheStorage::kStatic : CacheStorage::kGrowing;
    config_.root_context = random_.UniformInt(3) == 0 ? RootContext::kCarry : RootContext::kRebuild;
    manager_ = MakeManager(config_);
    naive_ = std::make_unique<NaiveStore>(config_);
    expected_.bytes = manager_->stats().bytes;
  }

  void Step() {
    const int64_t choice = random_.UniformInt(1000);
    if (choice < 80) return StoreInit();
    if (choice < 600) return StoreRecurrent();
    if (choice < 700) return CompareInit();
    if (choice < 800) return CompareClones();
    if (choice < 960) return CompareBatch();
    const int64_t env = RandomEnv();
    if (choice < 980) {
      manager_->BeginSearch({EnvId(env)});
      naive_->BeginSearch(env);
    } else if (choice < 984) {
      const int64_t step = RandomStep();
      manager_->RetireInit(EnvId(env), step);
      naive_->RetireInit(env, step);
    } else if (choice < 990) {
      manager_->EndEpisode(EnvId(env));
      naive_->EndEpisode(env);
    } else if (choice < 997) {
      const int64_t version = naive_->weight_version() + random_.UniformInt(3);
      manager_->InvalidateWeights(version);
      naive_->InvalidateWeights(version);
    } else {
      manager_->Reset();
      naive_->Reset();
    }
  }

  void CompareStats() const {
    const KVCacheStats& stats = manager_->stats();
    EXPECT_EQ(stats.stores, expected_.stores);
    EXPECT_EQ(stats.refused_stores, expected_.refused_stores);
    EXPECT_EQ(stats.clones, expected_.clones);
    EXPECT_EQ(stats.hits, expected_.hits);
    EXPECT_EQ(stats.misses, expected_.misses);
    EXPECT_EQ(stats.stale_reads, expected_.stale_reads);
    EXPECT_EQ(stats.carried_reads, expected_.carried_reads);
    if (config_.storage == CacheStorage::kStatic) {
      EXPECT_EQ(stats.bytes, expected_.bytes);
      EXPECT_EQ(stats.peak_bytes, expected_.bytes);
    }
  }

  int64_t num_reads() const { return expected_.clones; }
  // Those of contexts that have slid past their root.
  int64_t num_slid_reads() const { return num_slid_reads_; }

 private:
  int64_t RandomEnv() { return random_.UniformInt(config_.num_envs); }
  int64_t RandomStep() { return random_.UniformInt(5); }
  // Now and then beyond the capacity.
  int64_t RandomNode() { return random_.UniformInt(config_.nodes_per_env + 2); }
  int64_t token_size() const { return config_.shape.num_layers * 2 * config_.shape.embed_dim; }

  std::vector<NaiveToken> RandomTokens(int64_t count) {
    std::vector<NaiveToken> tokens(count, NaiveToken(token_size()));
    for (NaiveToken& token : tokens) {
      for (float& element : token) element = static_cast<float>(random_.Uniform()) + 0.5f;
    }
    return tokens;
  }

  // [n, L, 2, E]
  static std::vector<float> Flatten(const std::vector<NaiveToken>& tokens) {
    std::vector<float> flat;
    for (const NaiveToken& token : tokens) flat.insert(flat.end(), token.begin(), token.end());
    return flat;
  }

  // The newest tokens that a context of the manager may hold.
  std::vector<NaiveToken> Window(const NaiveContext& context) const {
    const auto size = static_cast<int64_t>(context.tokens.size());
    const int64_t count = std::min(size, config_.context_length - 1);
    return {context.tokens.end() - count, context.tokens.end()};
  }

  int64_t RootTokens(const NaiveContext& context) const {
    const auto cut = static_cast<int64_t>(context.tokens.size() - Window(context).size());
    return std::max<int64_t>(context.root_tokens - cut, 0);
  }

  bool IsCarried(const NaiveContext& context) const {
    return RootTokens(context) > 0 && context.root_version < naive_->weight_version();
  }

  void StoreInit() {
    const int64_t env = RandomEnv();
    const int64_t step = RandomStep();
    const int64_t length = random_.UniformInt(2 * config_.context_length);
    const std::vector<NaiveToken> tokens = RandomTokens(length);
    int64_t version = naive_->weight_version();
    if (random_.UniformInt(10) == 0) version += random_.UniformInt(3) - 1;
    KVCache cache = *KVCache::Create(CacheStorage::kGrowing, config_.shape, 1);
    ASSERT_TRUE(cache.Append(Flatten(tokens)).ok());
    cache.set_weight_version(version);
    const absl::Status stored = manager_->StoreInit(EnvId(env), step, cache);
    ASSERT_EQ(stored.code(), naive_->StoreInit(env, step, tokens, version)) << stored;
    ++(stored.ok() ? expected_.stores : expected_.refused_stores);
  }

  void StoreRecurrent() {
    std::vector<ChildKey> children;
    const int64_t count = random_.UniformInt(config_.num_envs + 2);
    for (int64_t row = 0; row < count; ++row) {
      const int64_t env = random_.UniformInt(4) == 0 ? RandomEnv() : row % config_.num_envs;
      children.push_back(Child(env, RandomParent(env), RandomChild(env)));
    }
    const std::vector<NaiveToken> tokens = RandomTokens(2 * count + 2);
    const HostRows rows = {Flatten(tokens), 2 * token_size()};  // one more than the children
    const absl::Status stored = manager_->StoreRecurrent(children, rows);
    ASSERT_EQ(stored.code(), Allowed(stored.code(), naive_->StoreRecurrent(children, tokens)))
        << stored;
    (stored.ok() ? expected_.stores : expected_.refused_stores) += count;
  }

  // Mostly one that is there, so that trees become deep.
  int64_t RandomParent(int64_t env) {
    for (int64_t attempt = 0; attempt < 20; ++attempt) {
      const int64_t node = RandomNode();
      if (naive_->Find(env, node).code == StatusCode::kOk) return node;
    }
    return RandomNode();
  }

  // Mostly the first that is not there, as a search expands.
  int64_t RandomChild(int64_t env) {
    int64_t node = 1;
    while (naive_->FindNode(env, node).code == StatusCode::kOk) ++node;
    return random_.UniformInt(8) == 0 ? RandomNode() : node;
  }

  // Entries of older weights may be overwritten by any store: gone or refused are both right.
  static StatusCode Allowed(StatusCode code, StatusCode expected) {
    const bool is_gone =
        expected == StatusCode::kFailedPrecondition && code == StatusCode::kNotFound;
    return is_gone ? code : expected;
  }

  void CompareCode(StatusCode code, StatusCode expected) {
    ASSERT_EQ(code, Allowed(code, expected));
    if (code == StatusCode::kOk) ++expected_.hits;
    if (code == StatusCode::kNotFound) ++expected_.misses;
    if (code == StatusCode::kFailedPrecondition) ++expected_.stale_reads;
  }

  void CompareClone(const absl::StatusOr<KVCache>& clone, const NaiveFound& found) {
    CompareCode(clone.status().code(), found.code);
    if (!clone.ok()) return;
    ++expected_.clones;
    expected_.carried_reads += IsCarried(found.context);
    num_slid_reads_ += found.context.root_tokens > 0 && RootTokens(found.context) == 0;
    const std::vector<NaiveToken> window = Window(found.context);
    ASSERT_EQ(clone->size(), static_cast<int64_t>(window.size()));
    EXPECT_EQ(clone->prefix_size(), RootTokens(found.context));
    EXPECT_EQ(clone->weight_version(),
              IsCarried(found.context) ? found.context.root_version : naive_->weight_version());
    EXPECT_EQ(clone->CopyTokens(0, clone->size()), Flatten(window));
  }

  void CompareInit() {
    const int64_t env = RandomEnv();
    const int64_t step = RandomStep();
    const NaiveFound found = naive_->FindInit(env, step);
    EXPECT_EQ(manager_->HasInit(EnvId(env), step), found.code == StatusCode::kOk);
    CompareClone(manager_->CloneInit(EnvId(env), step), found);
  }

  void CompareClones() {
    const int64_t env = RandomEnv();
    for (int64_t node = 0; node < config_.nodes_per_env + 2; ++node) {
      CompareClone(manager_->Clone(EnvId(env), NodeId(node)), naive_->Find(env, node));
    }
    const int64_t node = 1 + RandomNode();
    CompareClone(manager_->CloneRecurrent(EnvId(env), NodeId(node)), naive_->FindNode(env, node));
  }

  void CompareBatch() {
    std::vector<ContextKey> keys;
    std::vector<NaiveFound> all_found;
    const int64_t count = random_.UniformInt(2 * config_.num_envs + 1);
    for (int64_t row = 0; row < count; ++row) {
      const int64_t env = RandomEnv();
      const int64_t node = RandomParent(env);
      keys.push_back(Key(env, node));
      all_found.push_back(naive_->Find(env, node));
    }
    HostBatch batch(config_, count + random_.UniformInt(3));
    const absl::Status cloned = manager_->CloneInto(keys, batch.views());
    for (const NaiveFound& found : all_found) {
      if (found.code == StatusCode::kOk) {
        ++expected_.hits;
        continue;
      }
      CompareCode(cloned.code(), found.code);
      return;  // the first that cannot be read ends the call
    }
    ASSERT_TRUE(cloned.ok()) << cloned;
    const int64_t window = config_.context_length - 1;
    for (int64_t row = 0; row < static_cast<int64_t>(batch.lengths().size()); ++row) {
      std::vector<NaiveToken> expected;
      if (row < count) {
        expected = Window(all_found[row].context);
        ++expected_.clones;
        expected_.carried_reads += IsCarried(all_found[row].context);
      }
      EXPECT_EQ(batch.lengths()[row], static_cast<int64_t>(expected.size()));
      expected.insert(expected.begin(), window - expected.size(), NaiveToken(token_size(), 0.0f));
      EXPECT_EQ(batch.row(row), absl::MakeConstSpan(Flatten(expected)));
    }
  }

  RandomStream random_;
  KVCacheManagerConfig config_;
  std::unique_ptr<KVCacheManager> manager_;
  std::unique_ptr<NaiveStore> naive_;
  KVCacheStats expected_;
  int64_t num_slid_reads_ = 0;
};

TEST(CacheRandom, EveryVerbInAnyOrderEqualsAStoreOfDeepCopies) {
  int64_t num_reads = 0;
  int64_t num_slid_reads = 0;
  for (uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    Comparison comparison(seed);
    for (int64_t step = 0; step < 200 && !testing::Test::HasFailure(); ++step) comparison.Step();
    comparison.CompareStats();
    num_reads += comparison.num_reads();
    num_slid_reads += comparison.num_slid_reads();
    if (testing::Test::HasFailure()) return;
  }
  EXPECT_GT(num_reads, 5000) << "the random calls must find something to read";
  EXPECT_GT(num_slid_reads, 500) << "and windows must slide";
}

}  // namespace
}  // namespace lzero::kv_cache_random_test
