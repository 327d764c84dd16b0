#include "lzero/family/unizero/root_contexts.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/tensor_arrays.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

std::string Prefix(EnvId env) { return absl::StrCat("env", env.value, "."); }

}  // namespace

RootContexts::RootContexts(KVCacheManager* cache)
    : cache_(cache),
      rows_(at::zeros({cache->config().context_length - 1, cache->config().shape.num_layers, 2,
                       cache->config().shape.embed_dim},
                      at::TensorOptions().device(cache->config().device))),
      weight_version_(cache->weight_version()),
      steps_(cache->config().num_envs, -1),
      versions_(cache->config().num_envs) {
  for (std::vector<int64_t>& versions : versions_) versions.reserve(rows_.size(0));
}

void RootContexts::MoveVersions(EnvId env, int64_t count, int64_t num_new) {
  std::vector<int64_t>& versions = versions_[env.value];
  const int64_t num_old = std::max<int64_t>(0, count - num_new);
  versions.erase(versions.begin(), versions.end() - num_old);
  versions.resize(count, weight_version_);
}

absl::Status RootContexts::Store(absl::Span<const RootTokens> roots, const at::Tensor& tokens) {
  entries_.clear();
  for (const RootTokens& root : roots) {
    const int64_t kept = std::min(root.count, rows_.size(0));
    MoveVersions(root.env, kept, root.num_new);
    cache_->RetireInit(root.env, root.step);
    entries_.push_back(EntryOf(root.env, root.step, root.end_row - kept, kept));
  }
  return cache_->StoreInits(entries_, tokens);
}

absl::Status RootContexts::StoreRows(EnvId env, int64_t step, absl::Span<const float> earlier,
                                     absl::Span<const float> computed) {
  const KVCacheShape& shape = cache_->config().shape;
  const size_t token_size = static_cast<size_t>(shape.num_layers * 2 * shape.embed_dim);
  const size_t room = static_cast<size_t>(rows_.size(0)) * token_size;
  computed = computed.last(std::min(computed.size(), room));
  earlier = earlier.last(std::min(earlier.size(), room - computed.size()));
  float* rows = rows_.mutable_data_ptr<float>();
  std::copy(computed.begin(), computed.end(), std::copy(earlier.begin(), earlier.end(), rows));
  const auto num_new = static_cast<int64_t>(computed.size() / token_size);
  const auto count = num_new + static_cast<int64_t>(earlier.size() / token_size);
  MoveVersions(env, count, num_new);
  cache_->RetireInit(env, step);
  return cache_->StoreInits({EntryOf(env, step, 0, count)}, rows_);
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
  versions_[env.value] = std::move(versions);
  const at::Tensor by_token = ToTensor(*tokens).permute({2, 0, 1, 3}).contiguous();
  return cache_->StoreInits({EntryOf(env, step, 0, num_tokens)},
                            by_token.to(cache_->config().device));
}

}  // namespace lzero
