#include "lzero/kv_cache/internal/context_index.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero::internal {
namespace {

constexpr int64_t kNone = -1;

std::string InitText(int64_t step) { return absl::StrCat("the init entry of step ", step); }

std::string NodeText(NodeId node) { return absl::StrCat("node ", node.value); }

absl::Status AbsentError(EnvId env, const std::string& entry, absl::string_view reason) {
  return absl::NotFoundError(
      absl::StrCat("KV cache: environment ", env.value, " has not ", entry, ": ", reason));
}

}  // namespace

ContextIndex::ContextIndex(int64_t num_envs, int64_t window, int64_t num_inits, int64_t num_nodes,
                           RootContext root_context)
    : window_(window), carry_(root_context == RootContext::kCarry) {
  envs_.resize(num_envs);
  for (EnvEntries& env : envs_) env.nodes.resize(num_nodes_);
  Grow(num_inits, num_nodes);
}

absl::StatusOr<int64_t> ContextIndex::CountSlots(int64_t num_envs, int64_t window,
                                                 int64_t num_inits, int64_t num_nodes) {
  int64_t init_slots = 0;
  int64_t node_slots = 0;
  int64_t slots = 0;
  if (num_nodes > std::numeric_limits<int32_t>::max() ||
      __builtin_mul_overflow(num_inits, window, &init_slots) ||
      __builtin_mul_overflow(num_nodes - 1, kTokensPerNode, &node_slots) ||
      __builtin_add_overflow(init_slots, node_slots, &slots) ||
      __builtin_mul_overflow(slots, num_envs, &slots) || __builtin_add_overflow(slots, 1, &slots)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "KV cache: ", num_envs, " environments with ", num_inits, " init entries of ", window,
        " tokens and ", num_nodes, " nodes have more tokens or nodes than can be counted"));
  }
  return slots;
}

void ContextIndex::Grow(int64_t num_inits, int64_t num_nodes) {
  num_inits = std::max(num_inits, num_inits_);
  num_nodes = std::max(num_nodes, num_nodes_);
  for (EnvEntries& env : envs_) {
    env.inits.resize(num_inits);
    for (int64_t i = num_inits_; i < num_inits; ++i, num_slots_ += window_) {
      env.inits[i].first_slot = num_slots_;
    }
    env.nodes.resize(num_nodes);
    for (int64_t i = num_nodes_; i < num_nodes; ++i, num_slots_ += kTokensPerNode) {
      env.nodes[i].first_slot = num_slots_;
    }
  }
  num_inits_ = num_inits;
  num_nodes_ = num_nodes;
}

absl::Status ContextIndex::CheckEnv(EnvId env) const {
  const auto num_envs = static_cast<int64_t>(envs_.size());
  if (env.value >= 0 && env.value < num_envs) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("KV cache: environment ", env.value,
                                                 " is outside 0 .. ", num_envs - 1,
                                                 " (num_envs is ", num_envs, ")"));
}

const ContextIndex::EnvEntries& ContextIndex::entries(EnvId env) const {
  LZ_CHECK(CheckEnv(env).ok(), CheckEnv(env).message());
  return envs_[env.value];
}

bool ContextIndex::IsLive(const EnvEntries& env, const InitEntry& init) const {
  return init.stamp > std::max(env.episode_start, reset_at_);
}

bool ContextIndex::IsLive(const EnvEntries& env, const NodeEntry& node) const {
  return node.stamp > std::max(env.search_start, reset_at_);
}

bool ContextIndex::IsHeld(const EnvEntries& env, const InitEntry& init) const {
  return IsLive(env, init) && (carry_ || init.weight_version == weight_version_);
}

bool ContextIndex::HasRoot(const EnvEntries& env, const NodeEntry& node) const {
  const InitEntry& root = env.inits[node.root];
  return root.stamp == node.root_stamp && IsLive(env, root);
}

bool ContextIndex::IsReadable(const EnvEntries& env, int64_t node) const {
  return node < num_nodes_ && IsLive(env, env.nodes[node]) && HasRoot(env, env.nodes[node]) &&
         env.nodes[node].weight_version == weight_version_;
}

absl::Status ContextIndex::StaleError(EnvId env, const std::string& entry, int64_t version) const {
  return absl::FailedPreconditionError(absl::StrCat(
      "KV cache: ", entry, " of environment ", env.value, " was computed with weights version ",
      version, ", the weights are now at version ", weight_version_, "; compute it again"));
}

absl::StatusOr<ContextPath> ContextIndex::FindInit(EnvId env, int64_t step) const {
  LZ_RETURN_IF_ERROR(CheckEnv(env));
  const EnvEntries& found = entries(env);
  for (int64_t i = 0; i < num_inits_; ++i) {
    const InitEntry& init = found.inits[i];
    if (init.step != step || !IsLive(found, init)) continue;
    if (!IsHeld(found, init)) return StaleError(env, InitText(step), init.weight_version);
    return ContextPath{.env = env.value, .root = i, .node = 0};
  }
  return AbsentError(env, InitText(step), "it was never stored, or forgotten");
}

bool ContextIndex::HasInit(EnvId env, int64_t step) const {
  const EnvEntries& found = entries(env);
  return std::any_of(found.inits.begin(), found.inits.end(), [&](const InitEntry& init) {
    return init.step == step && IsHeld(found, init);
  });
}

absl::StatusOr<ContextPath> ContextIndex::FindNewestInit(EnvId env) const {
  LZ_RETURN_IF_ERROR(CheckEnv(env));
  const EnvEntries& found = entries(env);
  int64_t newest = kNone;
  int64_t stale = kNone;
  for (int64_t i = 0; i < num_inits_; ++i) {
    const InitEntry& init = found.inits[i];
    if (!IsLive(found, init)) continue;
    int64_t& best = IsHeld(found, init) ? newest : stale;
    if (best == kNone || init.step > found.inits[best].step) best = i;
  }
  if (newest != kNone) return ContextPath{.env = env.value, .root = newest, .node = 0};
  if (stale == kNone) return AbsentError(env, "an init entry", "none was stored in this episode");
  return StaleError(env, InitText(found.inits[stale].step), found.inits[stale].weight_version);
}

absl::StatusOr<ContextPath> ContextIndex::FindNode(EnvId env, NodeId node) const {
  LZ_RETURN_IF_ERROR(CheckEnv(env));
  if (node.value < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: node ", node.value, ": node ids begin at 0"));
  }
  if (node == kRootNode) {
    return AbsentError(env, NodeText(node), "the root is in the init pool, not the recurrent one");
  }
  const EnvEntries& found = entries(env);
  if (node.value >= num_nodes_ || !IsLive(found, found.nodes[node.value])) {
    return AbsentError(env, NodeText(node), "it was not stored in this search");
  }
  const NodeEntry& entry = found.nodes[node.value];
  if (entry.weight_version != weight_version_) {
    return StaleError(env, NodeText(node), entry.weight_version);
  }
  if (!HasRoot(found, entry)) {
    return AbsentError(env, NodeText(node), "its root context was replaced or retired");
  }
  return ContextPath{.env = env.value, .root = entry.root, .node = node.value};
}

absl::StatusOr<ContextPath> ContextIndex::Find(EnvId env, NodeId node) const {
  return node == kRootNode ? FindNewestInit(env) : FindNode(env, node);
}

ContextWindow ContextIndex::CollectSlots(const ContextPath& path, absl::Span<int64_t> slots) const {
  LZ_CHECK(static_cast<int64_t>(slots.size()) == window_, slots.size(), " slots, not ", window_);
  const EnvEntries& env = envs_[path.env];
  const InitEntry& root = env.inits[path.root];
  ContextWindow found{.weight_version = weight_version_};
  int64_t position = window_;  // everything from here on is filled
  int64_t node = path.node;
  for (; node != 0 && position > 0; node = env.nodes[node].parent, ++found.hops) {
    const int64_t first = env.nodes[node].first_slot;
    slots[--position] = first + 1;
    if (position > 0) slots[--position] = first;  // an odd window cuts the oldest node in two
  }
  if (node == 0 && position > 0) {
    found.root_tokens = std::min(position, root.length);
    for (int64_t i = 1; i <= found.root_tokens; ++i) {
      slots[--position] = root.first_slot + root.length - i;
    }
    ++found.hops;
    if (found.root_tokens > 0) found.weight_version = root.weight_version;
  }
  found.length = window_ - position;
  std::fill(slots.begin(), slots.begin() + position, 0);
  return found;
}

int64_t ContextIndex::ChooseInit(EnvId env, int64_t step) const {
  const EnvEntries& found = entries(env);
  int64_t unused = kNone;
  int64_t stale = kNone;
  for (int64_t i = 0; i < num_inits_; ++i) {
    const InitEntry& init = found.inits[i];
    const bool live = IsLive(found, init);
    if (live && init.step == step) return i;
    if (!live && unused == kNone) unused = i;
    if (live && !IsHeld(found, init) && stale == kNone) stale = i;
  }
  return unused != kNone ? unused : stale;
}

bool ContextIndex::HasInitRoom(EnvId env, int64_t step) const {
  return ChooseInit(env, step) != kNone;
}

std::string ContextIndex::HeldSteps(EnvId env) const {
  const EnvEntries& found = entries(env);
  std::string steps;
  for (const InitEntry& init : found.inits) {
    if (IsHeld(found, init)) absl::StrAppend(&steps, steps.empty() ? "" : ", ", init.step);
  }
  return steps;
}

int64_t ContextIndex::PutInit(EnvId env, int64_t step, int64_t length, int64_t weight_version) {
  const int64_t chosen = ChooseInit(env, step);
  LZ_CHECK(chosen != kNone, "no room for step ", step, " of environment ", env.value);
  InitEntry& init = envs_[env.value].inits[chosen];
  init.step = step;
  init.length = std::min(length, window_);
  init.weight_version = weight_version;
  init.stamp = ++clock_;
  return init.first_slot;
}

void ContextIndex::RetireInit(EnvId env, int64_t step) {
  LZ_CHECK(CheckEnv(env).ok(), CheckEnv(env).message());
  for (InitEntry& init : envs_[env.value].inits) {
    if (init.step < step) init.stamp = 0;
  }
}

absl::Status ContextIndex::CheckChildren(absl::Span<const ChildKey> children) {
  ++clock_;  // the claim of this call
  for (int64_t row = 0; row < static_cast<int64_t>(children.size()); ++row) {
    LZ_RETURN_IF_ERROR(CheckChild(children, row));
  }
  return absl::OkStatus();
}

absl::Status ContextIndex::CheckChild(absl::Span<const ChildKey> children, int64_t row) {
  const ChildKey& key = children[row];
  // The parent must be readable, the number a child's and free.
  const absl::Status parent = Find(key.env, key.parent).status();
  if (!parent.ok()) return Annotate(parent, absl::StrCat("parent of row ", row));
  if (key.child.value < 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        "KV cache: row ", row, " stores node ", key.child.value, ", a child's number begins at 1"));
  }
  // A node that cannot be read (older weights, root gone) is free: what hangs on it cannot either.
  if (IsReadable(envs_[key.env.value], key.child.value)) {
    return absl::AlreadyExistsError(absl::StrCat(
        "KV cache: row ", row, " stores node ", key.child.value, " of environment ", key.env.value,
        ", which is there already; call BeginSearch before the next search"));
  }
  // No other row of the call may store the same child.
  bool named_before = false;
  if (key.child.value < num_nodes_) {
    NodeEntry& node = envs_[key.env.value].nodes[key.child.value];
    named_before = node.claim == clock_;
    node.claim = clock_;
  } else {
    // Beyond the capacity there is no entry to mark; such a call grows the storage or is refused.
    named_before = std::any_of(
        children.begin(), children.begin() + row,
        [&key](const ChildKey& other) { return other.env == key.env && other.child == key.child; });
  }
  if (!named_before) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("KV cache: row ", row, " stores node ",
                                                 key.child.value, " of environment ", key.env.value,
                                                 ", which another row of the same call stores"));
}

int64_t ContextIndex::PutChild(const ChildKey& child) {
  const absl::StatusOr<ContextPath> parent = Find(child.env, child.parent);
  LZ_CHECK(parent.ok(), parent.status().ToString());
  EnvEntries& env = envs_[child.env.value];
  NodeEntry& node = env.nodes[child.child.value];
  node.weight_version = weight_version_;
  node.stamp = ++clock_;
  node.root = static_cast<int32_t>(parent->root);
  node.root_stamp = env.inits[parent->root].stamp;
  node.parent = child.parent.value;
  return node.first_slot;
}

void ContextIndex::BeginSearch(EnvId env) {
  LZ_CHECK(CheckEnv(env).ok(), CheckEnv(env).message());
  envs_[env.value].search_start = ++clock_;
}

void ContextIndex::EndEpisode(EnvId env) {
  BeginSearch(env);
  envs_[env.value].episode_start = clock_;
}

}  // namespace lzero::internal
