#include "lzero/family/unizero/engine/root_contexts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

std::string Prefix(EnvId env) { return absl::StrCat("env", env.value, "."); }

// Axes of blocks of `size` numbers exchanged: [outer, inner] -> [inner, outer]. Files keep tokens
// as [L, 2, n, E], a cache is given [n, L, 2, E].
std::vector<float> Exchanged(absl::Span<const float> numbers, size_t outer, size_t inner,
                             size_t size) {
  std::vector<float> exchanged(numbers.size());
  for (size_t i = 0; i < outer; ++i) {
    for (size_t j = 0; j < inner; ++j) {
      std::copy_n(&numbers[(i * inner + j) * size], size, &exchanged[(j * outer + i) * size]);
    }
  }
  return exchanged;
}

}  // namespace

RootContexts::RootContexts(KVCacheManager* cache)
    : cache_(cache),
      window_(cache->config().context_length - 1),
      rows_(static_cast<size_t>(window_ * cache->config().shape.token_size())),
      weight_version_(cache->weight_version()),
      steps_(cache->config().num_envs, -1),
      versions_(cache->config().num_envs) {
  for (std::vector<int64_t>& versions : versions_) versions.reserve(window_);
}

void RootContexts::MoveVersions(EnvId env, int64_t count, int64_t num_new) {
  std::vector<int64_t>& versions = versions_[env.value];
  const int64_t num_old = std::max<int64_t>(0, count - num_new);
  versions.erase(versions.begin(), versions.end() - num_old);
  versions.resize(count, weight_version_);
}

absl::Status RootContexts::Store(absl::Span<const RootTokens> roots, Rows<const float> tokens) {
  entries_.clear();
  for (const RootTokens& root : roots) {
    const int64_t kept = std::min(root.count, window_);
    MoveVersions(root.env, kept, root.num_new);
    cache_->RetireInit(root.env, root.step);
    entries_.push_back(EntryOf(root.env, root.step, root.end_row - kept, kept));
  }
  return cache_->StoreInits(entries_, tokens);
}

absl::Status RootContexts::StoreRows(EnvId env, int64_t step, absl::Span<const float> earlier,
                                     absl::Span<const float> computed) {
  const size_t token_size = static_cast<size_t>(cache_->config().shape.token_size());
  const size_t room = rows_.size();
  computed = computed.last(std::min(computed.size(), room));
  earlier = earlier.last(std::min(earlier.size(), room - computed.size()));
  std::copy(computed.begin(), computed.end(),
            std::copy(earlier.begin(), earlier.end(), rows_.begin()));
  const auto num_new = static_cast<int64_t>(computed.size() / token_size);
  const auto count = num_new + static_cast<int64_t>(earlier.size() / token_size);
  MoveVersions(env, count, num_new);
  cache_->RetireInit(env, step);
  return cache_->StoreInits({EntryOf(env, step, 0, count)},
                            {rows_.data(), window_, cache_->config().shape.token_size()});
}

InitTokens RootContexts::EntryOf(EnvId env, int64_t step, int64_t first_row, int64_t count) {
  steps_[env.value] = step;
  // A context is as old as its oldest key.
  const std::vector<int64_t>& versions = versions_[env.value];
  return {env, step, first_row, count, versions.empty() ? weight_version_ : versions.front()};
}

void RootContexts::OnWeightsChanged() { cache_->InvalidateWeights(++weight_version_); }

absl::StatusOr<std::vector<NamedArray>> RootContexts::Export() const {
  std::vector<int64_t> steps = steps_;
  std::vector<NamedArray> arrays;
  for (size_t i = 0; i < steps.size(); ++i) {
    const EnvId env(static_cast<int32_t>(i));
    if (steps[i] < 0 || !cache_->HasInit(env, steps[i])) {
      steps[i] = -1;
      continue;
    }
    LZ_ASSIGN_OR_RETURN(const KVCache context, cache_->CloneInit(env, steps[i]));
    const KVCacheShape& shape = context.shape();
    const std::vector<float> tokens =
        Exchanged(context.CopyTokens(0, context.size()), static_cast<size_t>(context.size()),
                  static_cast<size_t>(2 * shape.num_layers), static_cast<size_t>(shape.embed_dim));
    arrays.push_back(MakeNamedArray(Prefix(env) + "tokens", absl::MakeConstSpan(tokens),
                                    {shape.num_layers, 2, context.size(), shape.embed_dim}));
    std::vector<int64_t> ages;
    for (const int64_t version : versions_[i]) ages.push_back(weight_version_ - version);
    arrays.push_back(MakeNamedArray(Prefix(env) + "ages", absl::MakeConstSpan(ages)));
  }
  arrays.push_back(MakeNamedArray("steps", absl::MakeConstSpan(steps)));
  return arrays;
}

absl::Status RootContexts::Import(absl::Span<const NamedArray> arrays) {
  LZ_ASSIGN_OR_RETURN(const auto steps, ReadArray<int64_t>(arrays, "steps"));
  if (steps.size() != steps_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("contexts of ", steps.size(), " environments, this role has ", steps_.size()));
  }
  cache_->Reset();
  steps_.assign(steps_.size(), -1);
  for (size_t i = 0; i < steps.size(); ++i) {
    if (steps[i] < 0) continue;
    const EnvId env(static_cast<int32_t>(i));
    LZ_RETURN_IF_ERROR(Annotate(ImportOne(env, steps[i], arrays), absl::StrCat("environment ", i)));
  }
  return absl::OkStatus();
}

absl::Status RootContexts::ImportOne(EnvId env, int64_t step, absl::Span<const NamedArray> arrays) {
  LZ_ASSIGN_OR_RETURN(std::vector<int64_t> versions,
                      ReadArray<int64_t>(arrays, Prefix(env) + "ages"));
  const std::string name = Prefix(env) + "tokens";
  const NamedArray* tokens = FindArray(arrays, name);
  LZ_RETURN_IF_ERROR(CheckArrayType(tokens, name, ArrayType::kF32));
  LZ_RETURN_IF_ERROR(CheckArrayBytes(*tokens));
  const KVCacheShape& shape = cache_->config().shape;
  const auto num_tokens = static_cast<int64_t>(versions.size());
  if (num_tokens < 1 || num_tokens > window_ ||
      tokens->shape != std::vector<int64_t>{shape.num_layers, 2, num_tokens, shape.embed_dim}) {
    return absl::InvalidArgumentError(
        absl::StrCat("a context of [", absl::StrJoin(tokens->shape, ", "), "] with the ages of ",
                     num_tokens, " tokens; allowed: as many as there are tokens, 1 .. ", window_,
                     ", [", shape.num_layers, ", 2, n, ", shape.embed_dim, "]"));
  }
  for (int64_t& version : versions) version = weight_version_ - version;
  versions_[env.value] = std::move(versions);
  LZ_ASSIGN_OR_RETURN(const std::vector<float> numbers, ReadArray<float>(arrays, name));
  LZ_ASSIGN_OR_RETURN(KVCache context, KVCache::Create(CacheStorage::kStatic, shape, num_tokens));
  LZ_RETURN_IF_ERROR(context.Append(Exchanged(numbers, static_cast<size_t>(2 * shape.num_layers),
                                              static_cast<size_t>(num_tokens),
                                              static_cast<size_t>(shape.embed_dim))));
  const InitTokens entry = EntryOf(env, step, 0, num_tokens);
  context.set_weight_version(entry.weight_version);
  return cache_->StoreInit(env, step, context);
}

}  // namespace lzero
