// The only door to cached contexts, one manager a role (collector, evaluator, reanalyzer): an init
// pool for each environment keyed by step, and a recurrent pool keyed by (environment, node).
// Getters return deep clones. Inside, tokens are immutable once written and shared along tree
// paths: a node owns its two tokens and its parent's index. Tokens are float32. Belongs to
// one thread; of its verbs single clones alone wait for a device.
#ifndef LZERO_KV_CACHE_KV_CACHE_MANAGER_H_
#define LZERO_KV_CACHE_KV_CACHE_MANAGER_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kv_cache/kv_cache.h"
#include "lzero/kv_cache/token_pool.h"
#include "lzero/kv_cache/token_rows.h"

namespace lzero {

namespace internal {
class ContextIndex;
struct ContextPath;
struct ContextWindow;
}  // namespace internal

struct KVCacheManagerConfig {
  KVCacheShape shape;
  int64_t context_length = 0;  // W; a context holds the last W - 1 tokens
  int64_t num_envs = 0;
  // Static storage holds exactly the next two numbers; growing storage begins with fewer and
  // doubles past them.
  int64_t nodes_per_env = 0;       // num_simulations + 1, root included
  int64_t init_steps_per_env = 2;  // init entries held at once for each environment
  CacheStorage storage = CacheStorage::kStatic;
  Device device = Device::kCpu;
  MakeTokenPool make_pool = nullptr;  // of another device than the CPU
  // kCarry: init entries of older weights stay readable, and are counted (carried_reads).
  RootContext root_context = RootContext::kRebuild;
  std::string owner = {};  // for the log: whose environments, e.g. "collector"
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

// The tokens of one init entry among those of others: `count` rows from `first_row` on, oldest
// first.
struct InitTokens {
  EnvId env;
  int64_t step = 0;
  int64_t first_row = 0;
  int64_t count = 0;
  int64_t weight_version = 0;
};

// Fixed buffers of the caller, filled by CloneInto: row i holds the context of keys[i],
// right-aligned: its newest token is at position W - 2, positions before the length are zero.
// Both on the manager's device.
struct ContextBatch {
  Rows<float> tokens;     // [max_batch, W - 1, L, 2, E]
  Rows<int64_t> lengths;  // [max_batch], 0 .. W - 1
};

// Counts contexts, not calls. Every lookup is one of hits, misses and stale_reads; a CloneInto that
// fails stops at the first context it cannot read and clones none.
struct KVCacheStats {
  int64_t stores = 0;
  int64_t clones = 0;
  int64_t hits = 0;
  int64_t misses = 0;
  int64_t refused_stores = 0;
  int64_t stale_reads = 0;    // refused: computed with older weights
  int64_t carried_reads = 0;  // clones with root tokens of older weights (root_context: carry)
  int64_t path_hops = 0;      // entries visited by clones, root's included
  int64_t bytes = 0;          // of token storage now
  int64_t peak_bytes = 0;     // also while growing, when old and new storage exist
};

// Environments outside 0 .. num_envs - 1 are InvalidArgument where a status is returned; elsewhere
// the caller must not name them.
class KVCacheManager {
 public:
  // Checks the capacities against each other, allocates everything (static storage) once and logs
  // the bytes. InvalidArgument names the value and what is allowed; ResourceExhausted when the
  // machine has too little memory.
  static absl::StatusOr<std::unique_ptr<KVCacheManager>> Create(const KVCacheManagerConfig& config);
  // Bytes of token storage that `config` asks for: static storage from the beginning, growing
  // storage once every entry is in use. Errors as Create, nothing is allocated.
  static absl::StatusOr<int64_t> PlannedBytes(const KVCacheManagerConfig& config);
  ~KVCacheManager();
  KVCacheManager(const KVCacheManager&) = delete;
  KVCacheManager& operator=(const KVCacheManager&) = delete;

  // Copies the last W - 1 tokens of `cache` in as the context of `env` at `step`; a
  // step stored before is replaced, and nodes that hang on it are NotFound from then on.
  // ResourceExhausted when init_steps_per_env entries are held (names the number to raise): nothing
  // is dropped in silence. FailedPrecondition when the cache's weight version is not current
  // (carry: is newer). InvalidArgument for a negative step or a cache of other shape. Nothing
  // has changed on an error.
  absl::Status StoreInit(EnvId env, int64_t step, const KVCache& cache);
  // The same for tokens outside a cache, many entries at once: `tokens` [rows, L, 2, E] on the
  // manager's device, at most W - 1 rows an entry. Allocates nothing on the CPU; elsewhere the
  // number of operations does not depend on that of the entries. Errors as above, and
  // InvalidArgument for rows that are not there; entries before the one at fault are stored.
  absl::Status StoreInits(absl::Span<const InitTokens> entries, Rows<const float> tokens);
  // Forgets the init entries of `env` with a smaller step than `step`, and nodes that hang on them.
  void RetireInit(EnvId env, int64_t step);
  // Copies the two tokens of each child in; tokens [B, 2, L, 2, E] on the manager's device (rows
  // beyond the children are ignored). ResourceExhausted names nodes_per_env; NotFound when a parent
  // is missing (it must have been stored by an earlier call); AlreadyExists for a child of this
  // search that is there: tokens never change under a path; FailedPrecondition for a parent of
  // older weights; InvalidArgument for tokens that do not fit. Nothing has changed on an error.
  absl::Status StoreRecurrent(absl::Span<const ChildKey> children, Rows<const float> tokens);

  // Deep clones (n <= W - 1 tokens) of the manager's storage kind in memory of the host, with room
  // for the two tokens of one more step: the prefix is the root's tokens that are still inside the
  // window, the suffix the path's tokens. They wait for the manager's device.
  // NotFound when absent; FailedPrecondition when computed with older weights.
  absl::StatusOr<KVCache> CloneInit(EnvId env, int64_t step) const;
  absl::StatusOr<KVCache> CloneRecurrent(EnvId env, NodeId node) const;
  // Node 0 from the init pool (its newest step), others from the recurrent pool.
  absl::StatusOr<KVCache> Clone(EnvId env, NodeId node) const;
  // The same for many keys at once into fixed buffers, in the shapes of ContextBatch; allocates
  // nothing after the first call of its size; rows beyond the keys become empty contexts. Errors as
  // above, and InvalidArgument for buffers that do not fit; on an error the buffers are unchanged.
  absl::Status CloneInto(absl::Span<const ContextKey> keys, const ContextBatch& batch) const;
  // Forgets the recurrent entries of these environments and lends their slots to a search inside
  // the memory of the device, which stores its nodes itself (search_contexts.h). Writes row i for
  // envs[i] into `rows` [envs, LentRowSize(W - 1)]; rows are valid until the next call that stores
  // or lends. FailedPrecondition for growing storage, whose addresses move; errors as CloneInto for
  // the roots.
  absl::Status LendNodes(absl::Span<const EnvId> envs, absl::Span<int64_t> rows);
  // For a step inside the memory of a device, which reads the parents' contexts where they lie and
  // writes the two tokens of each child itself: makes the entries of the children and writes row i
  // of `rows` ([B, row_size], the first numbers of each, step_rows.h) for parents[i] and
  // children[i]. The children hold what the step writes: run it before they are read. Errors as
  // LendNodes, CloneInto and StoreRecurrent; no entry was made then.
  absl::Status LendStep(absl::Span<const ContextKey> parents, absl::Span<const ChildKey> children,
                        absl::Span<int64_t> rows, int64_t row_size);
  // True when CloneInit would succeed.
  bool HasInit(EnvId env, int64_t step) const;

  // Forgets the recurrent entries of these environments, O(1) each.
  void BeginSearch(absl::Span<const EnvId> envs);
  // Forgets the init pool and the recurrent entries of one environment, O(1).
  void EndEpisode(EnvId env);
  // The weights now have this version: entries of older versions can no longer be read. The
  // caller must give a version that is not smaller.
  void InvalidateWeights(int64_t version);
  int64_t weight_version() const;
  // Forgets every entry, O(1); storage, weight version and counts stay.
  void Reset();

  const KVCacheStats& stats() const { return stats_; }
  const KVCacheManagerConfig& config() const { return config_; }
  // Fixed address of the pools [slots, L, 2, E], for tests and captured steps; changes only when
  // growing storage grows.
  const void* storage_address() const;

 private:
  KVCacheManager(const KVCacheManagerConfig& config, std::unique_ptr<internal::ContextIndex> index,
                 std::unique_ptr<TokenPool> pool);

  absl::Status CheckInitCache(EnvId env, int64_t step, const KVCache& cache) const;
  absl::Status CheckInitTokens(const InitTokens& entry, const Rows<const float>& tokens) const;
  absl::Status PrepareInit(EnvId env, int64_t step, int64_t weight_version);
  absl::Status PrepareChildren(absl::Span<const ChildKey> children,
                               const Rows<const float>& tokens);
  absl::Status GrowInits(EnvId env, int64_t step);
  absl::Status GrowNodes(absl::Span<const ChildKey> children);
  absl::Status GrowTo(int64_t num_inits, int64_t num_nodes);
  absl::Status CheckLendable() const;
  absl::Status CheckBatch(absl::Span<const ContextKey> keys, const ContextBatch& batch) const;
  // Counts the lookup; the slots of what it found, as ContextIndex::CollectSlots.
  absl::StatusOr<internal::ContextWindow> Collect(const absl::StatusOr<internal::ContextPath>& path,
                                                  absl::Span<int64_t> slots) const;
  absl::StatusOr<KVCache> CloneContext(const absl::StatusOr<internal::ContextPath>& path) const;

  KVCacheManagerConfig config_;
  std::unique_ptr<internal::ContextIndex> index_;
  std::unique_ptr<TokenPool> pool_;
  // Scratch that keeps its memory between calls: slots of the tokens to read or write, lengths.
  mutable std::vector<int64_t> slots_;
  std::vector<int64_t> rows_;  // of tokens to store
  mutable std::vector<int64_t> lengths_;
  mutable KVCacheStats stats_;
};

}  // namespace lzero

#endif  // LZERO_KV_CACHE_KV_CACHE_MANAGER_H_
