#include "lzero/inference/unizero_inference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/shape_check.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/world_model/model_size.h"

namespace lzero {
namespace {

at::Device DeviceOf(Device device) {
  switch (device) {
    case Device::kCpu:
      return at::kCPU;
  }
  LZ_CHECK(false, "device ", static_cast<int>(device));
}

KVCacheManagerConfig CacheConfig(const UniZeroInferenceOptions& options) {
  KVCacheManagerConfig cache;
  cache.shape = {options.model.num_layers, options.model.embed_dim};
  cache.context_length = options.model.context_length;
  cache.num_envs = options.num_envs;
  cache.nodes_per_env = options.num_simulations + 1;
  cache.storage = options.inference.cache_storage;
  cache.root_context = options.inference.root_context;
  cache.device = DeviceOf(options.inference.device);
  cache.owner = options.owner;
  return cache;
}

}  // namespace

absl::StatusOr<std::unique_ptr<UniZeroInference>> UniZeroInference::Create(
    const UniZeroInferenceOptions& options) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<UniZeroInference>> {
    LZ_ASSIGN_OR_RETURN(std::shared_ptr<WorldModel> model,
                        WorldModel::Create(options.model, options.shape, /*seed=*/0));
    model->eval();
    LZ_ASSIGN_OR_RETURN(auto cache, KVCacheManager::Create(CacheConfig(options)));
    LZ_ASSIGN_OR_RETURN(auto contexts, RootContexts::Create(cache.get()));
    LZ_ASSIGN_OR_RETURN(Runners runners,
                        MakeRunners(options.inference, *model, cache.get(), contexts.get()));
    return std::unique_ptr<UniZeroInference>(new UniZeroInference(
        options, std::move(model), std::move(cache), std::move(contexts), std::move(runners)));
  });
}

absl::StatusOr<int64_t> UniZeroInference::PlannedBytes(const UniZeroInferenceOptions& options) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters, CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const int64_t cache_bytes,
                      KVCacheManager::PlannedBytes(CacheConfig(options)));
  LZ_ASSIGN_OR_RETURN(const int64_t runner_bytes, RunnersBytes(options.inference, options.model,
                                                               options.shape, options.num_envs));
  return num_parameters * static_cast<int64_t>(sizeof(float)) + cache_bytes + runner_bytes;
}

UniZeroInference::UniZeroInference(const UniZeroInferenceOptions& options,
                                   std::shared_ptr<WorldModel> model,
                                   std::unique_ptr<KVCacheManager> cache,
                                   std::unique_ptr<RootContexts> contexts, Runners runners)
    : options_(options),
      model_(std::move(model)),
      cache_(std::move(cache)),
      contexts_(std::move(contexts)),
      step_(std::move(runners.step)),
      roots_(std::move(runners.roots)),
      actions_(Staging::Wrap("actions of a step", step_->buffers().actions)),
      rewards_(Staging::Wrap("rewards of a step", step_->buffers().rewards)),
      values_(Staging::Wrap("values of a step", step_->buffers().values)),
      prior_logits_(Staging::Wrap("prior logits of a step", step_->buffers().prior_logits)) {}

absl::Status UniZeroInference::CopyWeightsFrom(const WorldModel& source) {
  for (const auto& weight : source.named_parameters()) {
    LZ_CHECK_DEVICE(weight.value(), model_->device(), absl::StrCat("weight ", weight.key()));
  }
  model_->CopyWeightsFrom(source);
  contexts_->OnWeightsChanged();
  step_->OnWeightsChanged();
  return absl::OkStatus();
}

bool UniZeroInference::CanContinue(const Root& root) const {
  return root.step > 0 && !root.actions.empty() && cache_->HasInit(root.env, root.step - 1);
}

absl::Status UniZeroInference::InitialInference(absl::Span<const Root> roots,
                                                absl::Span<float> prior_logits,
                                                absl::Span<float> value) {
  LZ_CHECK(static_cast<int64_t>(roots.size()) <= options_.num_envs, roots.size(), " roots");
  envs_.clear();
  rebuilt_.clear();
  continued_.clear();
  for (size_t i = 0; i < roots.size(); ++i) {
    envs_.push_back(roots[i].env);
    (CanContinue(roots[i]) ? continued_ : rebuilt_).push_back(static_cast<int>(i));
  }
  cache_->BeginSearch(envs_);
  const ScopedTimer timer(&network_time_);
  const RootOutputs outputs = {prior_logits, value};
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
  parent_keys_.clear();
  child_keys_.clear();
  StepBuffers& buffers = step_->buffers();
  host_numbers_.assign(actions.begin(), actions.end());
  for (size_t i = 0; i < parents.size(); ++i) {
    parent_keys_.push_back({envs_[i], parents[i]});
    child_keys_.push_back({envs_[i], parents[i], children[i]});
  }
  {
    const ScopedTimer timer(&copy_time_);
    LZ_RETURN_IF_ERROR(cache_->CloneInto(parent_keys_, &buffers.contexts));
    LZ_RETURN_IF_ERROR(actions_.CopyIn(absl::MakeConstSpan(host_numbers_)));
  }
  {
    const ScopedTimer timer(&network_time_);
    LZ_RETURN_IF_ERROR(step_->Run(static_cast<int64_t>(parents.size())));
  }
  const ScopedTimer timer(&copy_time_);
  LZ_RETURN_IF_ERROR(cache_->StoreRecurrent(child_keys_, buffers.tokens));
  LZ_RETURN_IF_ERROR(rewards_.CopyOut(rewards));
  LZ_RETURN_IF_ERROR(values_.CopyOut(values));
  LZ_RETURN_IF_ERROR(prior_logits_.CopyOut(prior_logits));
  const double sign = options_.num_players == 2 ? -1.0 : 1.0;
  std::fill(discounts.begin(), discounts.end(), static_cast<float>(sign * options_.discount));
  return absl::OkStatus();
}

}  // namespace lzero
