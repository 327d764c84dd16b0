#include "lzero/family/unizero/engine/unizero_inference.h"

#include <algorithm>
#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

KVCacheManagerConfig UniZeroCacheConfig(const EngineOptions& options) {
  KVCacheManagerConfig cache;
  cache.shape = {options.model.num_layers, options.model.embed_dim};
  cache.context_length = options.model.context_length;
  cache.num_envs = options.num_envs;
  cache.nodes_per_env = options.search.NodesPerRoot();
  cache.storage = options.inference.cache_storage;
  cache.root_context = options.inference.root_context;
  cache.owner = options.owner;
  return cache;
}

UniZeroInference::UniZeroInference(const EngineOptions& options,
                                   std::unique_ptr<KVCacheManager> cache)
    : PolicyEngine(options),
      cache_(std::move(cache)),
      contexts_(std::make_unique<RootContexts>(cache_.get())) {}

void UniZeroInference::Drop() {
  step_.reset();
  roots_.reset();
  contexts_.reset();
  cache_.reset();
}

absl::StatusOr<std::vector<NamedArray>> UniZeroInference::ExportRoots() const {
  absl::StatusOr<std::vector<NamedArray>> arrays;
  LZ_RETURN_IF_ERROR(OnStream([&] {
    arrays = contexts_->Export();
    return arrays.status();
  }));
  return arrays;
}

absl::Status UniZeroInference::ImportRoots(absl::Span<const NamedArray> arrays) {
  return OnStream([&] { return contexts_->Import(arrays); });
}

std::vector<std::pair<std::string, double>> UniZeroInference::metrics(bool same_every_run) const {
  std::vector<std::pair<std::string, double>> metrics = {
      {"cache/mebibytes", static_cast<double>(cache_->stats().bytes) / (1 << 20)}};
  if (same_every_run) return metrics;
  metrics.emplace_back("cache/roots_rebuilt", static_cast<double>(root_stats_.rebuilt));
  metrics.emplace_back("cache/roots_continued", static_cast<double>(root_stats_.continued));
  metrics.emplace_back("cache/roots_carried", static_cast<double>(root_stats_.carried));
  return metrics;
}

bool UniZeroInference::CanContinue(const Root& root) const {
  return root.step > 0 && !root.actions.empty() && cache_->HasInit(root.env, root.step - 1);
}

absl::Status UniZeroInference::InitialInference(absl::Span<const Root> roots,
                                                absl::Span<float> prior_logits,
                                                absl::Span<float> value) {
  LZ_CHECK(static_cast<int64_t>(roots.size()) <= options().num_envs, roots.size(), " roots");
  envs_.clear();
  rebuilt_.clear();
  continued_.clear();
  for (size_t i = 0; i < roots.size(); ++i) {
    envs_.push_back(roots[i].env);
    (CanContinue(roots[i]) ? continued_ : rebuilt_).push_back(static_cast<int>(i));
  }
  cache_->BeginSearch(envs_);
  const ScopedTimer timer(&network_time_);
  const absl::Span<float> policies = PolicyOutputs(roots.size(), prior_logits);
  LZ_RETURN_IF_ERROR(OnStream([&] { return EvaluateRoots(roots, {policies, value}); }));
  FinishRoots(roots, policies, prior_logits);
  return absl::OkStatus();
}

absl::Status UniZeroInference::EvaluateRoots(absl::Span<const Root> roots,
                                             const RootOutputs& outputs) {
  if (!rebuilt_.empty()) LZ_RETURN_IF_ERROR(roots_->Rebuild(roots, rebuilt_, outputs));
  if (!continued_.empty()) {
    const int64_t carried_before = cache_->stats().carried_reads;
    LZ_RETURN_IF_ERROR(roots_->Continue(roots, continued_, outputs));
    root_stats_.carried += cache_->stats().carried_reads - carried_before;
  }
  root_stats_.rebuilt += static_cast<int64_t>(rebuilt_.size());
  root_stats_.continued += static_cast<int64_t>(continued_.size());
  return absl::OkStatus();
}

absl::Status UniZeroInference::RecurrentInference(
    absl::Span<const NodeId> parents, absl::Span<const int32_t> actions,
    absl::Span<const NodeId> children, absl::Span<float> rewards, absl::Span<float> discounts,
    absl::Span<float> values, absl::Span<float> prior_logits) {
  LZ_CHECK(parents.size() == envs_.size(), parents.size(), " rows for ", envs_.size(), " roots");
  // Where contexts are read and where the new tokens go.
  parent_keys_.clear();
  child_keys_.clear();
  for (size_t i = 0; i < parents.size(); ++i) {
    parent_keys_.push_back({envs_[i], parents[i]});
    child_keys_.push_back({envs_[i], parents[i], children[i]});
  }
  const absl::Span<float> policies = PolicyOutputs(parents.size(), prior_logits);
  // Actions in, one step, its outputs out.
  LZ_RETURN_IF_ERROR(OnStream([&] {
    return step_->RunNodes(
        {parent_keys_, child_keys_, ActionsOf(parents, actions), rewards, values, policies},
        cache_.get(), {&copy_time_, &network_time_});
  }));
  // Prior logits and discounts.
  FinishNodes(children, policies, prior_logits);
  std::fill(discounts.begin(), discounts.end(), static_cast<float>(SignedDiscount()));
  return absl::OkStatus();
}

}  // namespace lzero
