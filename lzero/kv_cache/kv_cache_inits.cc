// Init entries of the manager: contexts of roots, one by one or many at once.
#include <algorithm>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/context_index.h"
#include "lzero/kv_cache/internal/token_sizes.h"
#include "lzero/kv_cache/kv_cache_manager.h"

namespace lzero {
namespace {

std::string EnvStepText(EnvId env, int64_t step) {
  return absl::StrCat("environment ", env.value, ", step ", step);
}

}  // namespace

absl::Status KVCacheManager::StoreInit(EnvId env, int64_t step, const KVCache& cache) {
  absl::Status status = CheckInitCache(env, step, cache);
  if (status.ok()) status = PrepareInit(env, step, cache.weight_version());
  if (!status.ok()) {
    ++stats_.refused_stores;
    return status;
  }
  const int64_t count = std::min(cache.size(), config_.context_length - 1);
  slots_.resize(static_cast<size_t>(count));
  std::iota(slots_.begin(), slots_.end(),
            index_->PutInit(env, step, count, cache.weight_version()));
  pool_->Write(slots_, cache.CopyTokens(cache.size() - count, count).data());
  ++stats_.stores;
  return absl::OkStatus();
}

absl::Status KVCacheManager::StoreInits(absl::Span<const InitTokens> entries,
                                        Rows<const float> tokens) {
  absl::Status status;
  slots_.clear();
  rows_.clear();
  for (const InitTokens& entry : entries) {
    status = CheckInitTokens(entry, tokens);
    if (status.ok()) status = PrepareInit(entry.env, entry.step, entry.weight_version);
    if (!status.ok()) {
      ++stats_.refused_stores;
      break;
    }
    const int64_t first = index_->PutInit(entry.env, entry.step, entry.count, entry.weight_version);
    for (int64_t i = 0; i < entry.count; ++i) {
      slots_.push_back(first + i);
      rows_.push_back(entry.first_row + i);
    }
    ++stats_.stores;
  }
  pool_->CopyRows(rows_, tokens.numbers, tokens.count, slots_);
  return status;
}

absl::Status KVCacheManager::CheckInitCache(EnvId env, int64_t step, const KVCache& cache) const {
  const KVCacheShape& given = cache.shape();
  const KVCacheShape& allowed = config_.shape;
  if (given.num_layers == allowed.num_layers && given.embed_dim == allowed.embed_dim) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("KV cache: StoreInit of ", EnvStepText(env, step),
                                                 ": the cache has ", given.num_layers,
                                                 " layers of ", given.embed_dim, ", the manager ",
                                                 allowed.num_layers, " of ", allowed.embed_dim));
}

absl::Status KVCacheManager::CheckInitTokens(const InitTokens& entry,
                                             const Rows<const float>& tokens) const {
  LZ_RETURN_IF_ERROR(internal::CheckRows("KV cache: tokens of StoreInits", tokens,
                                         config_.shape.token_size(), config_.device));
  const int64_t rows = tokens.count, window = config_.context_length - 1;
  if (entry.count >= 0 && entry.count <= window && entry.first_row >= 0 &&
      entry.first_row <= rows - entry.count) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat("KV cache: StoreInits of ", EnvStepText(entry.env, entry.step), ": ",
                   entry.count, " tokens from row ", entry.first_row, " on; allowed: 0 .. ", window,
                   " of the ", rows, " given"));
}

absl::Status KVCacheManager::PrepareInit(EnvId env, int64_t step, int64_t weight_version) {
  LZ_RETURN_IF_ERROR(index_->CheckEnv(env));
  if (step < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: StoreInit of ", EnvStepText(env, step), ": steps begin at 0"));
  }
  const int64_t current = index_->weight_version();
  const bool carry = config_.root_context == RootContext::kCarry;
  if (weight_version > current || (weight_version < current && !carry)) {
    return absl::FailedPreconditionError(absl::StrCat(
        "KV cache: StoreInit of ", EnvStepText(env, step), ": the cache has weights version ",
        weight_version, ", the manager is at version ", current,
        weight_version > current ? "; call InvalidateWeights first"
                                 : "; compute it again with the weights of now"));
  }
  return index_->HasInitRoom(env, step) ? absl::OkStatus() : GrowInits(env, step);
}

absl::Status KVCacheManager::GrowInits(EnvId env, int64_t step) {
  if (config_.storage == CacheStorage::kGrowing) {
    return GrowTo(2 * index_->num_inits(), index_->num_nodes());
  }
  return absl::ResourceExhaustedError(absl::StrCat(
      "KV cache: StoreInit of ", EnvStepText(env, step), ": static storage holds ",
      config_.init_steps_per_env, " init entries of each environment, this one has steps ",
      index_->HeldSteps(env), "; retire one, or raise init_steps_per_env to at least ",
      config_.init_steps_per_env + 1));
}

}  // namespace lzero
