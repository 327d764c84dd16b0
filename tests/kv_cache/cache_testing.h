// Tokens with known values for the cache tests: a token is named by a number, and each of its
// elements says which token, layer, kind (key, value) and column it is. Exact in float32 for tokens
// below 1,000. Not a test.
#ifndef LZERO_TESTS_KV_CACHE_CACHE_TESTING_H_
#define LZERO_TESTS_KV_CACHE_CACHE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/types/span.h"
#include "lzero/kv_cache/kv_cache.h"
#include "lzero/kv_cache/kv_cache_manager.h"
#include "lzero/kv_cache/token_rows.h"

namespace lzero {

inline float TokenElement(int64_t token, int64_t layer, int64_t kind, int64_t column) {
  return static_cast<float>(token * 10000 + layer * 1000 + kind * 100 + column);
}

// [n, L, 2, E] holding these tokens.
inline std::vector<float> MakeTokens(const KVCacheShape& shape,
                                     const std::vector<int64_t>& tokens) {
  std::vector<float> made;
  for (const int64_t token : tokens) {
    for (int64_t l = 0; l < shape.num_layers; ++l) {
      for (int64_t kind = 0; kind < 2; ++kind) {
        for (int64_t e = 0; e < shape.embed_dim; ++e) {
          made.push_back(TokenElement(token, l, kind, e));
        }
      }
    }
  }
  return made;
}

// Rows on the host that own their numbers.
struct HostRows {
  std::vector<float> numbers;
  int64_t row_size = 0;

  int64_t count() const { return static_cast<int64_t>(numbers.size()) / row_size; }
  operator Rows<const float>() const { return {numbers.data(), count(), row_size}; }
};

// [n, L, 2, E] for StoreInits, a token a row.
inline HostRows MakeTokenRows(const KVCacheShape& shape, const std::vector<int64_t>& tokens) {
  return {MakeTokens(shape, tokens), shape.token_size()};
}

// [B, 2, L, 2, E] for StoreRecurrent, two tokens a row.
inline HostRows MakeRows(const KVCacheShape& shape,
                         const std::vector<std::pair<int64_t, int64_t>>& rows) {
  std::vector<int64_t> tokens;
  for (const auto& [first, second] : rows) tokens.insert(tokens.end(), {first, second});
  return {MakeTokens(shape, tokens), 2 * shape.token_size()};
}

// The numbers of the tokens of [n, L, 2, E]; -1 for a token that is not whole.
inline std::vector<int64_t> ReadTokens(const KVCacheShape& shape, absl::Span<const float> tokens) {
  const auto token_size = static_cast<size_t>(shape.num_layers * 2 * shape.embed_dim);
  EXPECT_EQ(tokens.size() % token_size, 0u);
  std::vector<int64_t> found;
  for (; tokens.size() >= token_size; tokens.remove_prefix(token_size)) {
    const int64_t token = static_cast<int64_t>(tokens[0]) / 10000;
    const std::vector<float> whole = MakeTokens(shape, {token});
    const bool is_whole = token >= 0 && tokens.first(token_size) == absl::MakeConstSpan(whole);
    found.push_back(is_whole ? token : -1);
  }
  return found;
}

inline std::vector<int64_t> ReadTokens(const KVCache& cache) {
  return ReadTokens(cache.shape(), cache.CopyTokens(0, cache.size()));
}

// Buffers for CloneInto, full of a number that no token has, and the views of them.
class HostBatch {
 public:
  HostBatch(const KVCacheManagerConfig& config, int64_t max_batch)
      : shape_(config.shape),
        row_size_((config.context_length - 1) * config.shape.token_size()),
        tokens_(static_cast<size_t>(max_batch * row_size_), -7.0f),
        lengths_(static_cast<size_t>(max_batch), -7),
        views_{{tokens_.data(), max_batch, row_size_}, {lengths_.data(), max_batch, 1}} {}
  HostBatch(const HostBatch&) = delete;
  HostBatch& operator=(const HostBatch&) = delete;

  const ContextBatch& views() const { return views_; }
  std::vector<float>& tokens() { return tokens_; }
  const std::vector<float>& tokens() const { return tokens_; }
  std::vector<int64_t>& lengths() { return lengths_; }
  const std::vector<int64_t>& lengths() const { return lengths_; }
  // [W - 1, L, 2, E] of one row, padding included.
  absl::Span<const float> row(int64_t row) const {
    return absl::MakeConstSpan(tokens_).subspan(row * row_size_, row_size_);
  }
  const KVCacheShape& shape() const { return shape_; }

 private:
  KVCacheShape shape_;
  int64_t row_size_;
  std::vector<float> tokens_;     // [max_batch, W - 1, L, 2, E]
  std::vector<int64_t> lengths_;  // [max_batch]
  ContextBatch views_;
};

inline bool AllAre(absl::Span<const float> numbers, float number) {
  return std::all_of(numbers.begin(), numbers.end(),
                     [number](float other) { return other == number; });
}

// Row i of a batch as token numbers without its padding, which must be zeros.
inline std::vector<int64_t> ReadRow(const HostBatch& batch, int64_t row) {
  const absl::Span<const float> numbers = batch.row(row);
  const auto own = static_cast<size_t>(batch.lengths()[row] * batch.shape().token_size());
  if (own > numbers.size()) {
    ADD_FAILURE() << "row " << row << " has length " << batch.lengths()[row];
    return {};
  }
  const size_t padding = numbers.size() - own;
  EXPECT_TRUE(AllAre(numbers.first(padding), 0.0f)) << "padding of " << row;
  return ReadTokens(batch.shape(), numbers.subspan(padding));
}

inline KVCache MakeCache(const KVCacheShape& shape, const std::vector<int64_t>& tokens,
                         int64_t weight_version = 0) {
  const auto capacity = static_cast<int64_t>(tokens.size()) + 1;
  KVCache cache = *KVCache::Create(CacheStorage::kStatic, shape, capacity);
  EXPECT_TRUE(cache.Append(MakeTokens(shape, tokens)).ok());
  cache.set_weight_version(weight_version);
  return cache;
}

// L = 2, E = 3, W = 8, 2 environments of 6 nodes.
inline KVCacheManagerConfig SmallConfig() {
  KVCacheManagerConfig config;
  config.shape = {2, 3};
  config.context_length = 8;
  config.num_envs = 2;
  config.nodes_per_env = 6;
  return config;
}

inline std::unique_ptr<KVCacheManager> MakeManager(const KVCacheManagerConfig& config) {
  auto manager = KVCacheManager::Create(config);
  EXPECT_TRUE(manager.ok()) << manager.status();
  return *std::move(manager);
}

inline ContextKey Key(int64_t env, int64_t node) { return {EnvId(env), NodeId(node)}; }

inline ChildKey Child(int64_t env, int64_t parent, int64_t child) {
  return {EnvId(env), NodeId(parent), NodeId(child)};
}

// Every byte of the manager's pool.
inline std::string PoolBytes(const KVCacheManager& manager) {
  return {static_cast<const char*>(manager.storage_address()),
          static_cast<size_t>(manager.stats().bytes)};
}

inline std::string CacheBytes(const KVCache& cache) {
  return {static_cast<const char*>(cache.storage_address()), static_cast<size_t>(cache.bytes())};
}

// The status has this code and its message all these parts.
inline ::testing::AssertionResult Says(const absl::Status& status, absl::StatusCode code,
                                       const std::vector<std::string>& parts) {
  if (status.code() != code) return ::testing::AssertionFailure() << status;
  for (const std::string& part : parts) {
    if (!absl::StrContains(std::string(status.message()), part)) {
      return ::testing::AssertionFailure() << "no '" << part << "' in: " << status;
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace lzero

#endif  // LZERO_TESTS_KV_CACHE_CACHE_TESTING_H_
