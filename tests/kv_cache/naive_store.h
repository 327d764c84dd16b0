// The cache contract in its plainest form, to compare with: every init entry and every node keeps
// the full list of its context's tokens, deep copied. Written from the contract in
// kv_cache_manager.h, not from the code under test. Not a test.
#ifndef LZERO_TESTS_KV_CACHE_NAIVE_STORE_H_
#define LZERO_TESTS_KV_CACHE_NAIVE_STORE_H_

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {

// Values of one token, in the order [L][2][E].
using NaiveToken = std::vector<float>;

struct NaiveContext {
  std::vector<NaiveToken> tokens;  // all that ever were, oldest first
  int64_t root_tokens = 0;         // the first of them
  int64_t weight_version = 0;
  int64_t root_version = 0;
  int64_t root_serial = 0;  // names the root's store
};

struct NaiveFound {
  absl::StatusCode code = absl::StatusCode::kOk;
  NaiveContext context;
};

class NaiveStore {
 public:
  explicit NaiveStore(const KVCacheManagerConfig& config)
      : config_(config), inits_(config.num_envs), nodes_(config.num_envs) {}

  absl::StatusCode StoreInit(int64_t env, int64_t step, std::vector<NaiveToken> tokens,
                             int64_t version) {
    const bool too_old = version < version_ && !carries();
    if (version > version_ || too_old) return absl::StatusCode::kFailedPrecondition;
    auto& inits = inits_[env];
    int64_t held = 0;
    for (const auto& [other_step, init] : inits) held += IsReadable(init) && other_step != step;
    // Entries of older weights hold no place.
    if (held >= config_.init_steps_per_env && config_.storage == CacheStorage::kStatic) {
      return absl::StatusCode::kResourceExhausted;
    }
    const int64_t window = config_.context_length - 1;
    const auto surplus = std::max<int64_t>(static_cast<int64_t>(tokens.size()) - window, 0);
    tokens.erase(tokens.begin(), tokens.begin() + surplus);
    const auto count = static_cast<int64_t>(tokens.size());
    inits[step] = {std::move(tokens), count, version, version, ++serial_};
    return absl::StatusCode::kOk;
  }

  // All or nothing; tokens in the order of the children, two a child.
  absl::StatusCode StoreRecurrent(const std::vector<ChildKey>& children,
                                  const std::vector<NaiveToken>& tokens) {
    std::vector<NaiveContext> made;
    std::set<std::pair<int32_t, int32_t>> named;
    for (size_t row = 0; row < children.size(); ++row) {
      const auto& [env, parent, child] = children[row];
      NaiveFound found = Find(env.value, parent.value);
      if (found.code != absl::StatusCode::kOk) return found.code;
      if (child.value < 1) return absl::StatusCode::kInvalidArgument;
      const NaiveFound there = FindNode(env.value, child.value);
      if (there.code == absl::StatusCode::kOk) return absl::StatusCode::kAlreadyExists;
      if (!named.insert({env.value, child.value}).second) {
        return absl::StatusCode::kInvalidArgument;
      }
      found.context.tokens.push_back(tokens[2 * row]);
      found.context.tokens.push_back(tokens[2 * row + 1]);
      found.context.weight_version = version_;
      made.push_back(std::move(found.context));
    }
    for (const ChildKey& key : children) {
      if (key.child.value >= config_.nodes_per_env && config_.storage == CacheStorage::kStatic) {
        return absl::StatusCode::kResourceExhausted;
      }
    }
    for (size_t row = 0; row < children.size(); ++row) {
      nodes_[children[row].env.value][children[row].child.value] = std::move(made[row]);
    }
    return absl::StatusCode::kOk;
  }

  NaiveFound FindInit(int64_t env, int64_t step) const {
    const auto found = inits_[env].find(step);
    if (found == inits_[env].end()) return {absl::StatusCode::kNotFound, {}};
    if (!IsReadable(found->second)) return {absl::StatusCode::kFailedPrecondition, {}};
    return {absl::StatusCode::kOk, found->second};
  }

  NaiveFound Find(int64_t env, int64_t node) const {
    if (node != 0) return FindNode(env, node);
    for (auto init = inits_[env].rbegin(); init != inits_[env].rend(); ++init) {
      if (IsReadable(init->second)) return {absl::StatusCode::kOk, init->second};
    }
    const bool is_empty = inits_[env].empty();
    return {is_empty ? absl::StatusCode::kNotFound : absl::StatusCode::kFailedPrecondition, {}};
  }

  NaiveFound FindNode(int64_t env, int64_t node) const {
    const auto found = nodes_[env].find(node);
    if (found == nodes_[env].end()) return {absl::StatusCode::kNotFound, {}};
    const NaiveContext& context = found->second;
    if (context.weight_version != version_) return {absl::StatusCode::kFailedPrecondition, {}};
    for (const auto& [step, init] : inits_[env]) {
      if (init.root_serial == context.root_serial) return {absl::StatusCode::kOk, context};
    }
    return {absl::StatusCode::kNotFound, {}};
  }

  void RetireInit(int64_t env, int64_t step) {
    inits_[env].erase(inits_[env].begin(), inits_[env].lower_bound(step));
  }
  void BeginSearch(int64_t env) { nodes_[env].clear(); }
  void EndEpisode(int64_t env) {
    nodes_[env].clear();
    inits_[env].clear();
  }
  void InvalidateWeights(int64_t version) { version_ = version; }
  void Reset() {
    for (int64_t env = 0; env < config_.num_envs; ++env) EndEpisode(env);
  }
  int64_t weight_version() const { return version_; }

 private:
  bool carries() const { return config_.root_context == RootContext::kCarry; }
  bool IsReadable(const NaiveContext& init) const {
    return carries() || init.weight_version == version_;
  }

  const KVCacheManagerConfig config_;
  std::vector<std::map<int64_t, NaiveContext>> inits_;
  std::vector<std::map<int64_t, NaiveContext>> nodes_;
  int64_t version_ = 0;
  int64_t serial_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TESTS_KV_CACHE_NAIVE_STORE_H_
