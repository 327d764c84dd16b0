// Which contexts exist and in which slots their tokens lie: the host side of KVCacheManager. Knows
// no tensor. Entries are forgotten by comparing stamps of one clock, never by visiting them.
// Slot 0 holds zeros and belongs to nobody. Belongs to one thread.
//
//   init entry   [slot 0 .. W-2]   the root's tokens, oldest first
//   node entry   [slot 0 .. 1]     its two tokens, and its parent: a context is a path to the root
#ifndef LZERO_KV_CACHE_INTERNAL_CONTEXT_INDEX_H_
#define LZERO_KV_CACHE_INTERNAL_CONTEXT_INDEX_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero::internal {

// Tokens a node owns: its action token and its latent token.
inline constexpr int64_t kTokensPerNode = 2;

// A context that was found: the path begins at `node` (0: the root itself) and ends at init entry
// `root` of `env`. Valid until the next change of the index.
struct ContextPath {
  int64_t env = 0;
  int64_t root = 0;
  int64_t node = 0;
};

struct ContextWindow {
  int64_t length = 0;       // tokens
  int64_t root_tokens = 0;  // of them, from the init entry
  int64_t weight_version = 0;
  int64_t hops = 0;
};

class ContextIndex {
 public:
  // `window` = W - 1 tokens. Capacities: entries an environment (nodes: the root's included).
  ContextIndex(int64_t num_envs, int64_t window, int64_t num_inits, int64_t num_nodes,
               RootContext root_context);

  // Slots in all with these capacities, slot 0 included; InvalidArgument beyond 64 bits.
  static absl::StatusOr<int64_t> CountSlots(int64_t num_envs, int64_t window, int64_t num_inits,
                                            int64_t num_nodes);
  // Adds entries; those that exist keep their slots. Smaller numbers change nothing.
  void Grow(int64_t num_inits, int64_t num_nodes);
  int64_t num_inits() const { return num_inits_; }
  int64_t num_nodes() const { return num_nodes_; }
  int64_t num_slots() const { return num_slots_; }

  absl::Status CheckEnv(EnvId env) const;

  // NotFound when absent; FailedPrecondition when of older weights; InvalidArgument for an
  // environment or node that cannot exist.
  absl::StatusOr<ContextPath> FindInit(EnvId env, int64_t step) const;
  // True when FindInit would succeed. The caller must name an environment that exists. Makes no
  // error text, so it costs no allocation.
  bool HasInit(EnvId env, int64_t step) const;
  absl::StatusOr<ContextPath> FindNewestInit(EnvId env) const;
  absl::StatusOr<ContextPath> FindNode(EnvId env, NodeId node) const;
  // Node 0: the newest init entry.
  absl::StatusOr<ContextPath> Find(EnvId env, NodeId node) const;
  // Writes the slots of the context's tokens into `slots` [W - 1], right-aligned, 0 before.
  ContextWindow CollectSlots(const ContextPath& path, absl::Span<int64_t> slots) const;

  // The first slot of node 1, or 0 when there is room for the root alone. While the capacity never
  // grew, the other nodes follow it, two slots each.
  int64_t FirstNodeSlot(EnvId env) const {
    return num_nodes_ > 1 ? entries(env).nodes[1].first_slot : 0;
  }

  // True when `step` has an entry to replace or one is free.
  bool HasInitRoom(EnvId env, int64_t step) const;
  // Steps of the init entries held, "3, 4", for messages.
  std::string HeldSteps(EnvId env) const;
  // Makes the entry and returns its first slot; HasInitRoom must be true.
  int64_t PutInit(EnvId env, int64_t step, int64_t length, int64_t weight_version);
  void RetireInit(EnvId env, int64_t step);

  // Checks parents and ids of `children` [B]; children beyond num_nodes are no error here. Changes
  // nothing that can be read.
  absl::Status CheckChildren(absl::Span<const ChildKey> children);
  // Makes the entry of a child that CheckChildren passed and returns its first slot.
  int64_t PutChild(const ChildKey& child);

  void BeginSearch(EnvId env);
  void EndEpisode(EnvId env);
  void Reset() { reset_at_ = ++clock_; }
  void set_weight_version(int64_t version) { weight_version_ = version; }
  int64_t weight_version() const { return weight_version_; }

 private:
  struct InitEntry {
    int64_t first_slot = 0;
    int64_t step = 0;
    int64_t length = 0;
    int64_t weight_version = 0;
    uint64_t stamp = 0;  // of the store; 0: never stored
  };
  struct NodeEntry {
    int64_t first_slot = 0;
    int64_t weight_version = 0;
    uint64_t stamp = 0;
    uint64_t root_stamp = 0;  // the root it hangs on, as it was then
    uint64_t claim = 0;       // the last CheckChildren that named it
    int32_t root = 0;
    int32_t parent = 0;
  };
  struct EnvEntries {
    std::vector<InitEntry> inits;
    std::vector<NodeEntry> nodes;  // nodes[0] is never used: the root is an init entry
    uint64_t search_start = 0;
    uint64_t episode_start = 0;
  };

  const EnvEntries& entries(EnvId env) const;
  bool IsLive(const EnvEntries& env, const InitEntry& init) const;
  bool IsLive(const EnvEntries& env, const NodeEntry& node) const;
  // Live and readable with the weights of now.
  bool IsHeld(const EnvEntries& env, const InitEntry& init) const;
  // The root that the node hangs on is still the one it was stored under.
  bool HasRoot(const EnvEntries& env, const NodeEntry& node) const;
  bool IsReadable(const EnvEntries& env, int64_t node) const;
  absl::Status StaleError(EnvId env, const std::string& entry, int64_t version) const;
  absl::Status CheckChild(absl::Span<const ChildKey> children, int64_t row);
  // The entry that PutInit would use, or -1.
  int64_t ChooseInit(EnvId env, int64_t step) const;

  const int64_t window_;
  const bool carry_;
  int64_t num_inits_ = 0;
  int64_t num_nodes_ = 1;
  int64_t num_slots_ = 1;
  int64_t weight_version_ = 0;
  uint64_t clock_ = 0;
  uint64_t reset_at_ = 0;
  std::vector<EnvEntries> envs_;
};

}  // namespace lzero::internal

#endif  // LZERO_KV_CACHE_INTERNAL_CONTEXT_INDEX_H_
