// The only door to cached contexts, one manager a role (collector, evaluator): an init pool for
// each environment keyed by step, and a recurrent pool keyed by (environment, node). Getters return
// deep clones. Inside, tokens are immutable once written and shared along tree paths: a node owns
// its two tokens and its parent's index. Belongs to one thread; never synchronises a device.
#ifndef LZERO_KV_CACHE_KV_CACHE_MANAGER_H_
#define LZERO_KV_CACHE_KV_CACHE_MANAGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/kv_cache/kv_cache.h"

namespace lzero {

struct KVCacheManagerConfig {
  KVCacheShape shape;
  int64_t context_length = 0;  // W; a context holds the last W - 1 tokens
  int64_t num_envs = 0;
  int64_t nodes_per_env = 0;       // num_simulations + 1, root included
  int64_t init_steps_per_env = 2;  // init entries held at once for each environment
  CacheStorage storage = CacheStorage::kStatic;
  at::Device device = at::kCPU;
};

struct ContextKey {
  EnvId env;
  NodeId node;  // 0: the newest init entry of the environment
};

// A child of `parent` that owns two tokens.
struct ChildKey {
  EnvId env;
  NodeId parent;
  NodeId child;
};

// Fixed buffers of the caller, filled by CloneInto: row i holds the context of keys[i],
// right-aligned: its newest token is at position W - 2, positions before the length are zero.
struct ContextBatch {
  at::Tensor tokens;   // [max_batch, W - 1, L, 2, E] float32
  at::Tensor lengths;  // [max_batch] int64, 0 .. W - 1
};

struct KVCacheStats {
  int64_t stores = 0;
  int64_t clones = 0;
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t refused_stores = 0;
  int64_t stale_reads = 0;  // refused: computed with older weights
  int64_t bytes = 0;
  int64_t peak_bytes = 0;
};

class KVCacheManager {
 public:
  // Checks the capacities against each other and allocates everything (static storage) once.
  // InvalidArgument names the value and what is allowed.
  static absl::StatusOr<std::unique_ptr<KVCacheManager>> Create(const KVCacheManagerConfig& config);
  virtual ~KVCacheManager() = default;

  // Copies the last W - 1 tokens of `cache` in as the context of `env` at `step`; a step stored
  // before is replaced. ResourceExhausted when init_steps_per_env entries are held (names the
  // number to raise): nothing is dropped in silence. FailedPrecondition when the cache's weight
  // version is not current.
  virtual absl::Status StoreInit(EnvId env, int64_t step, const KVCache& cache) = 0;
  // Forgets the init entries of `env` with a smaller step than `step`.
  virtual void RetireInit(EnvId env, int64_t step) = 0;
  // Copies the two tokens of each child in; tokens [B, 2, L, 2, E] float32 (rows beyond the
  // children are ignored). ResourceExhausted names nodes_per_env; NotFound when a parent is
  // missing; nothing has changed on an error.
  virtual absl::Status StoreRecurrent(absl::Span<const ChildKey> children,
                                      const at::Tensor& tokens) = 0;

  // Deep clones. NotFound when absent; FailedPrecondition when computed with older weights.
  virtual absl::StatusOr<KVCache> CloneInit(EnvId env, int64_t step) const = 0;
  virtual absl::StatusOr<KVCache> CloneRecurrent(EnvId env, NodeId node) const = 0;
  // Node 0 from the init pool (its newest step), others from the recurrent pool.
  virtual absl::StatusOr<KVCache> Clone(EnvId env, NodeId node) const = 0;
  // The same for many keys at once into fixed buffers; allocates nothing; rows beyond the keys
  // become empty contexts. On an error the buffers are unspecified.
  virtual absl::Status CloneInto(absl::Span<const ContextKey> keys, ContextBatch* batch) const = 0;
  // True when an init entry of the current weights is there.
  virtual bool HasInit(EnvId env, int64_t step) const = 0;

  // Forgets the recurrent entries of these environments, O(1) each.
  virtual void BeginSearch(absl::Span<const EnvId> envs) = 0;
  // Forgets the init pool and the recurrent entries of one environment.
  virtual void EndEpisode(EnvId env) = 0;
  // The weights now have this version: entries of older versions can no longer be read. Versions
  // only grow.
  virtual void InvalidateWeights(int64_t version) = 0;
  virtual int64_t weight_version() const = 0;
  virtual void Reset() = 0;

  virtual const KVCacheStats& stats() const = 0;
  virtual const KVCacheManagerConfig& config() const = 0;
  // Fixed address of the pools, for tests and captured steps; changes only when growing storage
  // grows.
  virtual const void* storage_address() const = 0;
};

}  // namespace lzero

#endif  // LZERO_KV_CACHE_KV_CACHE_MANAGER_H_
