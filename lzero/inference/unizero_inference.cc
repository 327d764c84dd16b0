#include "lzero/inference/unizero_inference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/eager_step.h"
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

RootInputsShape InputsShape(const UniZeroInferenceOptions& options) {
  int64_t observation_size = 1;
  for (const int64_t length : options.shape.observation_shape) observation_size *= length;
  return {options.num_envs, NumRootPastSteps(options.model), observation_size};
}

}  // namespace

int64_t NumRootPastSteps(const ModelConfig& config) {
  return (config.num_layers * (config.context_length - 1) + 1) / 2;
}

absl::StatusOr<std::unique_ptr<UniZeroInference>> UniZeroInference::Create(
    const UniZeroInferenceOptions& options) {
  return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<UniZeroInference>> {
    LZ_ASSIGN_OR_RETURN(std::shared_ptr<WorldModel> model,
                        WorldModel::Create(options.model, options.shape, /*seed=*/0));
    model->eval();
    LZ_ASSIGN_OR_RETURN(auto cache, KVCacheManager::Create(CacheConfig(options)));
    LZ_ASSIGN_OR_RETURN(auto step, MakeRecurrentStep(options.inference, *model, options.num_envs));
    LZ_ASSIGN_OR_RETURN(auto roots, RootContexts::Create(cache.get()));
    LZ_ASSIGN_OR_RETURN(
        auto inputs, RootInputs::Create(InputsShape(options), DeviceOf(options.inference.device)));
    return std::unique_ptr<UniZeroInference>(
        new UniZeroInference(options, std::move(model), std::move(cache), std::move(step),
                             std::move(roots), std::move(inputs)));
  });
}

absl::StatusOr<int64_t> UniZeroInference::PlannedBytes(const UniZeroInferenceOptions& options) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters, CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const int64_t cache_bytes,
                      KVCacheManager::PlannedBytes(CacheConfig(options)));
  return num_parameters * static_cast<int64_t>(sizeof(float)) + cache_bytes +
         ContextBatchBytes(options.model, options.num_envs) +
         StepBuffersBytes(options.model, options.shape, options.num_envs) +
         RootInputs::Bytes(InputsShape(options));
}

UniZeroInference::UniZeroInference(const UniZeroInferenceOptions& options,
                                   std::shared_ptr<WorldModel> model,
                                   std::unique_ptr<KVCacheManager> cache,
                                   std::unique_ptr<RecurrentStep> step,
                                   std::unique_ptr<RootContexts> roots,
                                   std::unique_ptr<RootInputs> inputs)
    : options_(options),
      model_(std::move(model)),
      cache_(std::move(cache)),
      step_(std::move(step)),
      roots_(std::move(roots)),
      inputs_(std::move(inputs)),
      root_contexts_(MakeContextBatch(*model_, options.num_envs)),
      root_lengths_(Staging::Wrap("lengths of roots", root_contexts_.lengths)),
      root_logits_(Staging::Wrap("prior logits of roots",
                                 at::zeros({options.num_envs, options.shape.num_actions},
                                           root_contexts_.tokens.options()))),
      root_values_(Staging::Wrap("values of roots",
                                 at::zeros({options.num_envs}, root_contexts_.tokens.options()))),
      actions_(Staging::Wrap("actions of a step", step_->buffers().actions)),
      rewards_(Staging::Wrap("rewards of a step", step_->buffers().rewards)),
      values_(Staging::Wrap("values of a step", step_->buffers().values)),
      prior_logits_(Staging::Wrap("prior logits of a step", step_->buffers().prior_logits)) {}

absl::Status UniZeroInference::CopyWeightsFrom(const WorldModel& source) {
  for (const auto& weight : source.named_parameters()) {
    LZ_CHECK_DEVICE(weight.value(), model_->device(), absl::StrCat("weight ", weight.key()));
  }
  model_->CopyWeightsFrom(source);
  roots_->OnWeightsChanged();
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
  std::vector<int> rebuilt, continued;
  for (size_t i = 0; i < roots.size(); ++i) {
    envs_.push_back(roots[i].env);
    (CanContinue(roots[i]) ? continued : rebuilt).push_back(static_cast<int>(i));
  }
  cache_->BeginSearch(envs_);
  const ScopedTimer timer(&network_time_);
  LZ_RETURN_IF_ERROR(CatchTorch([&]() -> absl::Status {
    const c10::InferenceMode inference;
    if (!rebuilt.empty()) LZ_RETURN_IF_ERROR(RebuildRoots(roots, rebuilt));
    if (!continued.empty()) LZ_RETURN_IF_ERROR(ContinueRoots(roots, continued));
    return absl::OkStatus();
  }));
  LZ_RETURN_IF_ERROR(root_logits_.CopyOut(prior_logits));
  return root_values_.CopyOut(value);
}

absl::Status UniZeroInference::ReadRoots(const at::Tensor& y, absl::Span<const int> rows) {
  LZ_ASSIGN_OR_RETURN(const at::Tensor index, inputs_->StageRows(rows));
  root_logits_.tensor().index_copy_(0, index, model_->PolicyLogits(y));
  root_values_.tensor().index_copy_(0, index, model_->Decode(model_->ValueLogits(y)));
  return absl::OkStatus();
}

absl::Status UniZeroInference::RebuildRoots(absl::Span<const Root> roots,
                                            absl::Span<const int> rows) {
  LZ_ASSIGN_OR_RETURN(const RootPasts pasts, inputs_->StagePasts(roots, rows));
  const int64_t num_rows = pasts.actions.size(0);
  const int64_t num_steps = pasts.actions.size(1);
  const at::Tensor latents = model_->Encode(pasts.observations).view({num_rows, num_steps, -1});
  const at::Tensor tokens =
      at::stack({latents, model_->EmbedActions(pasts.actions)}, 2).flatten(1, 2);
  const int64_t num_tokens = 2 * num_steps - 1;  // no action after the root's observation yet
  at::Tensor keys_values;
  const at::Tensor outputs = model_->transformer().Forward(tokens.narrow(1, 0, num_tokens),
                                                           pasts.num_padding, &keys_values);
  LZ_RETURN_IF_ERROR(ReadRoots(outputs.select(1, num_tokens - 1), rows));
  for (int64_t i = 0; i < num_rows; ++i) {
    const Root& root = roots[rows[i]];
    const int64_t length = pasts.past_tokens[i];
    LZ_RETURN_IF_ERROR(roots_->Store(
        root.env, root.step, keys_values[i].narrow(0, num_tokens - length, length), length));
  }
  root_stats_.rebuilt += num_rows;
  return absl::OkStatus();
}

absl::Status UniZeroInference::ContinueRoots(absl::Span<const Root> roots,
                                             absl::Span<const int> rows) {
  const auto num_rows = static_cast<int64_t>(rows.size());
  parent_keys_.clear();
  for (const int row : rows) parent_keys_.push_back({roots[row].env, kRootNode});
  const int64_t carried_before = cache_->stats().carried_reads;
  LZ_RETURN_IF_ERROR(cache_->CloneInto(parent_keys_, &root_contexts_));
  root_stats_.carried += cache_->stats().carried_reads - carried_before;
  host_numbers_.resize(num_rows);
  LZ_RETURN_IF_ERROR(root_lengths_.CopyOut(absl::MakeSpan(host_numbers_)));
  LZ_ASSIGN_OR_RETURN(const RootSteps steps, inputs_->StageNewest(roots, rows));
  const at::Tensor contexts = root_contexts_.tokens.narrow(0, 0, num_rows);
  const TwoTokenOutputs outputs =
      RunTwoTokens(*model_, contexts, root_contexts_.lengths.narrow(0, 0, num_rows), steps.actions,
                   model_->Encode(steps.observations));
  LZ_RETURN_IF_ERROR(ReadRoots(outputs.at_observation, rows));
  const at::Tensor windows = at::cat({contexts, outputs.tokens}, 1);
  for (int64_t i = 0; i < num_rows; ++i) {
    const Root& root = roots[rows[i]];
    const int64_t length = host_numbers_[i] + 2;
    LZ_RETURN_IF_ERROR(roots_->Store(root.env, root.step,
                                     windows[i].narrow(0, windows.size(1) - length, length), 2));
  }
  root_stats_.continued += num_rows;
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
