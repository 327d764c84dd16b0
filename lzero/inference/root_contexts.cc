#include "lzero/inference/root_contexts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/memory/memory.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/tensor_arrays.h"

namespace lzero {
namespace {

std::string Prefix(EnvId env) { return absl::StrCat("env", env.value, "."); }

}  // namespace

absl::StatusOr<std::unique_ptr<RootContexts>> RootContexts::Create(KVCacheManager* cache) {
  const KVCacheManagerConfig& config = cache->config();
  LZ_ASSIGN_OR_RETURN(KVCache scratch, KVCache::Create(CacheStorage::kStatic, config.shape,
                                                       config.context_length, config.device));
  return absl::WrapUnique(new RootContexts(cache, std::move(scratch)));
}

RootContexts::RootContexts(KVCacheManager* cache, KVCache scratch)
    : cache_(cache),
      scratch_(std::move(scratch)),
      weight_version_(cache->weight_version()),
      steps_(cache->config().num_envs, -1),
      versions_(cache->config().num_envs) {}

absl::Status RootContexts::Store(EnvId env, int64_t step, const at::Tensor& tokens,
                                 int64_t num_new) {
  const int64_t kept = std::min(tokens.size(0), cache_->config().context_length - 1);
  std::vector<int64_t> versions = std::move(versions_[env.value]);
  const int64_t num_old = std::max<int64_t>(0, kept - num_new);
  versions.erase(versions.begin(), versions.end() - num_old);
  versions.resize(kept, weight_version_);
  cache_->RetireInit(env, step);
  return Put(env, step, tokens.narrow(0, tokens.size(0) - kept, kept).permute({1, 2, 0, 3}),
             std::move(versions));
}

absl::Status RootContexts::Put(EnvId env, int64_t step, const at::Tensor& tokens,
                               std::vector<int64_t> versions) {
  scratch_.Reset();
  // A context is as old as its oldest key.
  scratch_.set_weight_version(versions.front());
  LZ_RETURN_IF_ERROR(scratch_.Append(tokens));
  scratch_.Advance();
  steps_[env.value] = step;
  versions_[env.value] = std::move(versions);
  return cache_->StoreInit(env, step, scratch_);
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
    arrays.push_back(ToNamedArray(Prefix(env) + "tokens", context.CopyTokens(0, context.size())));
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
  const auto num_tokens = static_cast<int64_t>(versions.size());
  const int64_t window = cache_->config().context_length - 1;
  if (num_tokens < 1 || num_tokens > window || tokens->shape.size() != 4 ||
      tokens->shape[2] != num_tokens) {
    return absl::InvalidArgumentError(
        absl::StrCat("a context with the ages of ", num_tokens,
                     " tokens; allowed: as many as there are tokens, 1 .. ", window));
  }
  for (int64_t& version : versions) version = weight_version_ - version;
  return Put(env, step, ToTensor(*tokens).to(cache_->config().device), std::move(versions));
}

}  // namespace lzero
