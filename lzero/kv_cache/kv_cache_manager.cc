#include "lzero/kv_cache/kv_cache_manager.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/context_index.h"
#include "lzero/kv_cache/internal/host_token_pool.h"
#include "lzero/kv_cache/internal/token_sizes.h"
#include "lzero/kv_cache/search_contexts.h"

namespace lzero {

using internal::ContextIndex;
using internal::ContextPath;
using internal::ContextWindow;
using internal::kTokensPerNode;

namespace {

// What growing storage begins with, where the config allows more.
constexpr int64_t kFirstNodes = 8;
constexpr int64_t kFirstInits = 1;

absl::Status CheckConfig(const KVCacheManagerConfig& config) {
  LZ_RETURN_IF_ERROR(internal::CheckPositive("num_layers", config.shape.num_layers));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("embed_dim", config.shape.embed_dim));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("context_length", config.context_length));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("num_envs", config.num_envs));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("nodes_per_env", config.nodes_per_env));
  return internal::CheckPositive("init_steps_per_env", config.init_steps_per_env);
}

}  // namespace

absl::StatusOr<std::unique_ptr<KVCacheManager>> KVCacheManager::Create(
    const KVCacheManagerConfig& config) {
  LZ_RETURN_IF_ERROR(CheckConfig(config));
  // Capacities: growing storage begins with fewer.
  const bool growing = config.storage == CacheStorage::kGrowing;
  const int64_t window = config.context_length - 1;
  const int64_t num_inits =
      growing ? std::min(kFirstInits, config.init_steps_per_env) : config.init_steps_per_env;
  const int64_t num_nodes =
      growing ? std::min(kFirstNodes, config.nodes_per_env) : config.nodes_per_env;
  LZ_ASSIGN_OR_RETURN(const int64_t num_slots,
                      ContextIndex::CountSlots(config.num_envs, window, num_inits, num_nodes));
  LZ_RETURN_IF_ERROR(
      internal::TokenBytes({num_slots, config.shape.num_layers, 2, config.shape.embed_dim})
          .status());
  // Allocate.
  LZ_CHECK(config.device.is_cpu() || config.make_pool != nullptr, "no pool on ",
           DeviceText(config.device));
  auto pool = config.make_pool != nullptr
                  ? config.make_pool(config.shape, num_slots)
                  : internal::HostTokenPool::Create(config.shape, num_slots);
  if (!pool.ok()) {
    return Annotate(pool.status(), absl::StrCat("num_envs ", config.num_envs, ", nodes_per_env ",
                                                num_nodes, ", init_steps_per_env ", num_inits,
                                                ", context_length ", config.context_length));
  }
  auto index = std::make_unique<ContextIndex>(config.num_envs, window, num_inits, num_nodes,
                                              config.root_context);
  // Tell what it takes.
  LZ_LOG_DETAIL(absl::StrFormat(
      "cache         %s for %d environments%s: each %d nodes, %d roots of %d tokens",
      SizeText((*pool)->bytes()), config.num_envs,
      config.owner.empty() ? "" : " of the " + config.owner, num_nodes, num_inits, window));
  return absl::WrapUnique(new KVCacheManager(config, std::move(index), *std::move(pool)));
}

absl::StatusOr<int64_t> KVCacheManager::PlannedBytes(const KVCacheManagerConfig& config) {
  LZ_RETURN_IF_ERROR(CheckConfig(config));
  LZ_ASSIGN_OR_RETURN(const int64_t num_slots,
                      ContextIndex::CountSlots(config.num_envs, config.context_length - 1,
                                               config.init_steps_per_env, config.nodes_per_env));
  return internal::TokenBytes({num_slots, config.shape.num_layers, 2, config.shape.embed_dim});
}

KVCacheManager::KVCacheManager(const KVCacheManagerConfig& config,
                               std::unique_ptr<ContextIndex> index, std::unique_ptr<TokenPool> pool)
    : config_(config), index_(std::move(index)), pool_(std::move(pool)) {
  slots_.reserve(config.num_envs * std::max(config.context_length - 1, kTokensPerNode));
  lengths_.reserve(config.num_envs);
  rows_.reserve(slots_.capacity());
  stats_.bytes = stats_.peak_bytes = pool_->bytes();
}

KVCacheManager::~KVCacheManager() = default;

void KVCacheManager::RetireInit(EnvId env, int64_t step) { index_->RetireInit(env, step); }

absl::Status KVCacheManager::StoreRecurrent(absl::Span<const ChildKey> children,
                                            Rows<const float> tokens) {
  const absl::Status prepared = PrepareChildren(children, tokens);
  if (!prepared.ok()) {
    stats_.refused_stores += static_cast<int64_t>(children.size());
    return prepared;
  }
  slots_.clear();
  for (const ChildKey& child : children) {
    const int64_t first = index_->PutChild(child);
    slots_.push_back(first);
    slots_.push_back(first + 1);
  }
  pool_->Scatter(slots_, tokens.numbers);
  stats_.stores += static_cast<int64_t>(children.size());
  return absl::OkStatus();
}

absl::Status KVCacheManager::PrepareChildren(absl::Span<const ChildKey> children,
                                             const Rows<const float>& tokens) {
  LZ_RETURN_IF_ERROR(internal::CheckRows("KV cache: tokens of StoreRecurrent", tokens,
                                         kTokensPerNode * config_.shape.token_size(),
                                         config_.device));
  const auto count = static_cast<int64_t>(children.size());
  if (tokens.count < count) {
    return absl::InvalidArgumentError(absl::StrCat("KV cache: tokens of StoreRecurrent have ",
                                                   tokens.count, " rows; ", count,
                                                   " children need at least as many"));
  }
  LZ_RETURN_IF_ERROR(index_->CheckChildren(children));
  return GrowNodes(children);
}

absl::Status KVCacheManager::GrowNodes(absl::Span<const ChildKey> children) {
  ChildKey largest{};
  for (const ChildKey& child : children) {
    if (child.child > largest.child) largest = child;
  }
  const int64_t needed = int64_t{largest.child.value} + 1;
  if (needed <= index_->num_nodes()) return absl::OkStatus();
  if (config_.storage == CacheStorage::kGrowing) {
    return GrowTo(index_->num_inits(), std::max(needed, 2 * index_->num_nodes()));
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "KV cache: environment ", largest.env.value, " stores node ", largest.child.value,
      ", static storage holds nodes 0 .. ", config_.nodes_per_env - 1,
      "; raise nodes_per_env (num_simulations + 1) to at least ", needed));
}

absl::Status KVCacheManager::GrowTo(int64_t num_inits, int64_t num_nodes) {
  LZ_ASSIGN_OR_RETURN(
      const int64_t num_slots,
      ContextIndex::CountSlots(config_.num_envs, config_.context_length - 1, num_inits, num_nodes));
  const int64_t before = pool_->bytes();
  LZ_RETURN_IF_ERROR(pool_->Grow(num_slots));
  index_->Grow(num_inits, num_nodes);
  LZ_CHECK(index_->num_slots() == num_slots, index_->num_slots(), " slots, not ", num_slots);
  stats_.bytes = pool_->bytes();
  const int64_t both = stats_.bytes == before ? before : stats_.bytes + before;
  stats_.peak_bytes = std::max(stats_.peak_bytes, both);
  LZ_LOG_DETAIL("KV cache: grown to ", stats_.bytes, " bytes, ", num_nodes, " nodes and ",
                num_inits, " roots for each environment");
  return absl::OkStatus();
}

absl::StatusOr<ContextWindow> KVCacheManager::Collect(const absl::StatusOr<ContextPath>& path,
                                                      absl::Span<int64_t> slots) const {
  stats_.hits += path.ok();
  stats_.misses += absl::IsNotFound(path.status());
  stats_.stale_reads += absl::IsFailedPrecondition(path.status());
  LZ_RETURN_IF_ERROR(path.status());
  const ContextWindow found = index_->CollectSlots(*path, slots);
  stats_.path_hops += found.hops;
  return found;
}

absl::StatusOr<KVCache> KVCacheManager::CloneInit(EnvId env, int64_t step) const {
  return CloneContext(index_->FindInit(env, step));
}

absl::StatusOr<KVCache> KVCacheManager::CloneRecurrent(EnvId env, NodeId node) const {
  return CloneContext(index_->FindNode(env, node));
}

absl::StatusOr<KVCache> KVCacheManager::Clone(EnvId env, NodeId node) const {
  return CloneContext(index_->Find(env, node));
}

absl::StatusOr<KVCache> KVCacheManager::CloneContext(
    const absl::StatusOr<ContextPath>& path) const {
  const int64_t window = config_.context_length - 1;
  slots_.resize(window);
  LZ_ASSIGN_OR_RETURN(const ContextWindow found, Collect(path, absl::MakeSpan(slots_)));
  LZ_ASSIGN_OR_RETURN(KVCache clone,
                      KVCache::Create(config_.storage, config_.shape, window + kTokensPerNode));
  std::vector<float> tokens(static_cast<size_t>(found.length * config_.shape.token_size()));
  pool_->Read(absl::MakeConstSpan(slots_).last(found.length), tokens.data());
  const auto prefix = static_cast<size_t>(found.root_tokens * config_.shape.token_size());
  LZ_RETURN_IF_ERROR(clone.Append(absl::MakeConstSpan(tokens).first(prefix)));
  clone.Advance();
  LZ_RETURN_IF_ERROR(clone.Append(absl::MakeConstSpan(tokens).subspan(prefix)));
  clone.set_weight_version(found.weight_version);
  stats_.carried_reads += found.weight_version < index_->weight_version();
  ++stats_.clones;
  return clone;
}

absl::Status KVCacheManager::CheckBatch(absl::Span<const ContextKey> keys,
                                        const ContextBatch& batch) const {
  const int64_t window = config_.context_length - 1;
  LZ_RETURN_IF_ERROR(internal::CheckRows("KV cache: tokens of CloneInto", batch.tokens,
                                         window * config_.shape.token_size(), config_.device));
  LZ_RETURN_IF_ERROR(internal::CheckRows("KV cache: lengths of CloneInto", batch.lengths,
                                         /*row_size=*/1, config_.device));
  const int64_t max_batch = batch.tokens.count;
  if (batch.lengths.count != max_batch) {
    return absl::InvalidArgumentError(absl::StrCat("KV cache: CloneInto into tokens of ", max_batch,
                                                   " rows and lengths of ", batch.lengths.count,
                                                   ", must be as many"));
  }
  if (static_cast<int64_t>(keys.size()) <= max_batch) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("KV cache: CloneInto of ", keys.size(),
                                                 " keys into buffers of ", max_batch, " rows"));
}

absl::Status KVCacheManager::CloneInto(absl::Span<const ContextKey> keys,
                                       const ContextBatch& batch) const {
  LZ_RETURN_IF_ERROR(CheckBatch(keys, batch));
  const int64_t window = config_.context_length - 1;
  const int64_t max_batch = batch.tokens.count;
  slots_.assign(max_batch * window, 0);
  lengths_.assign(max_batch, 0);
  int64_t carried = 0;
  for (size_t row = 0; row < keys.size(); ++row) {
    const auto found = Collect(index_->Find(keys[row].env, keys[row].node),
                               absl::MakeSpan(slots_).subspan(row * window, window));
    if (!found.ok()) return Annotate(found.status(), absl::StrCat("row ", row));
    lengths_[row] = found->length;
    carried += found->weight_version < index_->weight_version();
  }
  pool_->GatherInto(slots_, batch.tokens.numbers);
  pool_->CopyNumbers(lengths_, batch.lengths.numbers);
  stats_.carried_reads += carried;
  stats_.clones += static_cast<int64_t>(keys.size());
  return absl::OkStatus();
}

absl::Status KVCacheManager::CheckLendable() const {
  if (config_.storage == CacheStorage::kStatic) return absl::OkStatus();
  return absl::FailedPreconditionError(
      "KV cache: growing storage lends no nodes, its addresses move; use static storage");
}

absl::Status KVCacheManager::LendNodes(absl::Span<const EnvId> envs, absl::Span<int64_t> rows) {
  LZ_RETURN_IF_ERROR(CheckLendable());
  const int64_t window = config_.context_length - 1, row_size = LentRowSize(window);
  LZ_CHECK(static_cast<int64_t>(rows.size()) >= static_cast<int64_t>(envs.size()) * row_size,
           rows.size(), " numbers for ", envs.size(), " environments");
  for (size_t i = 0; i < envs.size(); ++i) {
    const absl::Span<int64_t> row = rows.subspan(i * row_size, row_size);
    LZ_ASSIGN_OR_RETURN(const ContextWindow found,
                        Collect(index_->FindNewestInit(envs[i]), row.first(window)));
    row[window] = found.length;
    row[window + 1] = index_->FirstNodeSlot(envs[i]);
    index_->BeginSearch(envs[i]);
    stats_.carried_reads += found.weight_version < index_->weight_version();
  }
  return absl::OkStatus();
}

absl::Status KVCacheManager::LendStep(absl::Span<const ContextKey> parents,
                                      absl::Span<const ChildKey> children, absl::Span<int64_t> rows,
                                      int64_t row_size) {
  LZ_RETURN_IF_ERROR(CheckLendable());
  const int64_t window = config_.context_length - 1;
  const auto count = static_cast<int64_t>(parents.size());
  LZ_CHECK(children.size() == parents.size() && row_size > window + 1 &&
               static_cast<int64_t>(rows.size()) >= count * row_size,
           rows.size(), " numbers for ", count, " parents and ", children.size(), " children");
  int64_t carried = 0;
  for (int64_t i = 0; i < count; ++i) {
    const absl::Span<int64_t> row = rows.subspan(i * row_size, row_size);
    const auto found = Collect(index_->Find(parents[i].env, parents[i].node), row.first(window));
    if (!found.ok()) return Annotate(found.status(), absl::StrCat("row ", i));
    row[window] = found->length;
    carried += found->weight_version < index_->weight_version();
  }
  absl::Status can_store = index_->CheckChildren(children);
  if (can_store.ok()) can_store = GrowNodes(children);
  if (!can_store.ok()) {
    stats_.refused_stores += count;
    return can_store;
  }
  for (int64_t i = 0; i < count; ++i) {
    rows[i * row_size + window + 1] = index_->PutChild(children[i]);
  }
  stats_.carried_reads += carried;
  stats_.stores += count;
  return absl::OkStatus();
}

bool KVCacheManager::HasInit(EnvId env, int64_t step) const { return index_->HasInit(env, step); }

void KVCacheManager::BeginSearch(absl::Span<const EnvId> envs) {
  for (const EnvId env : envs) index_->BeginSearch(env);
}

void KVCacheManager::EndEpisode(EnvId env) { index_->EndEpisode(env); }

void KVCacheManager::InvalidateWeights(int64_t version) {
  LZ_CHECK(version >= index_->weight_version(), "weights version ", version, " after version ",
           index_->weight_version(), ": versions only grow");
  index_->set_weight_version(version);
}

int64_t KVCacheManager::weight_version() const { return index_->weight_version(); }

void KVCacheManager::Reset() { index_->Reset(); }

const void* KVCacheManager::storage_address() const { return pool_->address(); }

}  // namespace lzero
