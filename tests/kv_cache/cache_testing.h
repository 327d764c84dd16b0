// Tokens with known values for the cache tests: a token is named by a number, and each of its
// elements says which token, layer, kind (key, value) and column it is. Exact in float32 for tokens
// below 1,000. Not a test.
#ifndef LZERO_TESTS_KV_CACHE_CACHE_TESTING_H_
#define LZERO_TESTS_KV_CACHE_CACHE_TESTING_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ATen/ATen.h"
#include "absl/strings/match.h"
#include "lzero/kv_cache/kv_cache.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

inline float TokenElement(int64_t token, int64_t layer, int64_t kind, int64_t column) {
  return static_cast<float>(token * 10000 + layer * 1000 + kind * 100 + column);
}

// [L, 2, n, E] holding these tokens.
inline at::Tensor MakeTokens(const KVCacheShape& shape, const std::vector<int64_t>& tokens) {
  const auto count = static_cast<int64_t>(tokens.size());
  at::Tensor made = at::empty({shape.num_layers, 2, count, shape.embed_dim}, at::kFloat);
  float* out = made.data_ptr<float>();
  for (int64_t l = 0; l < shape.num_layers; ++l) {
    for (int64_t kind = 0; kind < 2; ++kind) {
      for (const int64_t token : tokens) {
        for (int64_t e = 0; e < shape.embed_dim; ++e) *out++ = TokenElement(token, l, kind, e);
      }
    }
  }
  return made;
}

// [B, 2, L, 2, E] for StoreRecurrent, two tokens a row.
inline at::Tensor MakeRows(const KVCacheShape& shape,
                           const std::vector<std::pair<int64_t, int64_t>>& rows) {
  const auto count = static_cast<int64_t>(rows.size());
  at::Tensor made = at::empty({count, 2, shape.num_layers, 2, shape.embed_dim}, at::kFloat);
  float* out = made.data_ptr<float>();
  for (const auto& [first, second] : rows) {
    for (const int64_t token : {first, second}) {
      for (int64_t l = 0; l < shape.num_layers; ++l) {
        for (int64_t kind = 0; kind < 2; ++kind) {
          for (int64_t e = 0; e < shape.embed_dim; ++e) *out++ = TokenElement(token, l, kind, e);
        }
      }
    }
  }
  return made;
}

// The numbers of the tokens of [L, 2, n, E]; -1 for a token that is not whole.
inline std::vector<int64_t> ReadTokens(const at::Tensor& tokens) {
  const at::Tensor whole = tokens.contiguous();
  const int64_t num_layers = whole.size(0);
  const int64_t count = whole.size(2);
  const int64_t embed_dim = whole.size(3);
  const float* at = whole.data_ptr<float>();
  std::vector<int64_t> found;
  for (int64_t t = 0; t < count; ++t) {
    int64_t token = static_cast<int64_t>(at[t * embed_dim]) / 10000;
    for (int64_t l = 0; l < num_layers; ++l) {
      for (int64_t kind = 0; kind < 2; ++kind) {
        for (int64_t e = 0; e < embed_dim; ++e) {
          const float element = at[((l * 2 + kind) * count + t) * embed_dim + e];
          if (token >= 0 && element != TokenElement(token, l, kind, e)) token = -1;
        }
      }
    }
    found.push_back(token);
  }
  return found;
}

inline std::vector<int64_t> ReadTokens(const KVCache& cache) {
  return ReadTokens(cache.CopyTokens(0, cache.size()));
}

// Row i of a batch as token numbers, padding included (zeros read as token 0 only where L, kind
// and column are 0, so padding is checked by its sum and left out).
inline std::vector<int64_t> ReadRow(const ContextBatch& batch, int64_t row) {
  const int64_t length = batch.lengths[row].item<int64_t>();
  const at::Tensor tokens = batch.tokens[row];  // [W - 1, L, 2, E]
  const int64_t padding = tokens.size(0) - length;
  EXPECT_EQ(tokens.narrow(0, 0, padding).abs().sum().item<float>(), 0.0f) << "padding of " << row;
  return ReadTokens(tokens.narrow(0, padding, length).permute({1, 2, 0, 3}));
}

inline KVCache MakeCache(const KVCacheShape& shape, const std::vector<int64_t>& tokens,
                         int64_t weight_version = 0) {
  const auto capacity = static_cast<int64_t>(tokens.size()) + 1;
  KVCache cache = *KVCache::Create(CacheStorage::kStatic, shape, capacity, at::kCPU);
  EXPECT_TRUE(cache.Append(MakeTokens(shape, tokens)).ok());
  cache.set_weight_version(weight_version);
  return cache;
}

// Buffers full of a number that no token has.
inline ContextBatch MakeBatch(const KVCacheManagerConfig& config, int64_t max_batch) {
  ContextBatch batch;
  batch.tokens = at::full(
      {max_batch, config.context_length - 1, config.shape.num_layers, 2, config.shape.embed_dim},
      -7.0, at::kFloat);
  batch.lengths = at::full({max_batch}, -7, at::kLong);
  return batch;
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
