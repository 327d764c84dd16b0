#include "lzero/inference/unizero_inference.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/inference/eager_step.h"
#include "lzero/tensor/shape_check.h"
#include "lzero/tensor/torch_status.h"
#include "lzero/world_model/model_size.h"
#include "torch/torch.h"

namespace lzero {
namespace {

void CopyOut(const at::Tensor& source, absl::Span<float> target) {
  LZ_CHECK(source.is_contiguous() && source.numel() >= static_cast<int64_t>(target.size()),
           source.numel(), " numbers for ", target.size());
  std::copy_n(source.data_ptr<float>(), target.size(), target.data());
}

KVCacheManagerConfig CacheConfig(const UniZeroInferenceOptions& options) {
  KVCacheManagerConfig cache;
  cache.shape = {options.model.num_layers, options.model.embed_dim};
  cache.context_length = options.model.context_length;
  cache.num_envs = options.num_envs;
  cache.nodes_per_env = options.num_simulations + 1;
  cache.storage = options.inference.cache_storage;
  cache.root_context = options.inference.root_context;
  return cache;
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
    std::unique_ptr<UniZeroInference> made(new UniZeroInference(options, std::move(model)));
    const KVCacheManagerConfig cache = CacheConfig(options);
    LZ_ASSIGN_OR_RETURN(made->cache_, KVCacheManager::Create(cache));
    LZ_ASSIGN_OR_RETURN(made->step_,
                        MakeRecurrentStep(options.inference, *made->model_, options.num_envs));
    LZ_ASSIGN_OR_RETURN(made->roots_, RootContexts::Create(made->cache_.get()));
    return made;
  });
}

absl::StatusOr<int64_t> UniZeroInference::PlannedBytes(const UniZeroInferenceOptions& options) {
  LZ_ASSIGN_OR_RETURN(const int64_t num_parameters, CountParameters(options.model, options.shape));
  LZ_ASSIGN_OR_RETURN(const int64_t cache_bytes,
                      KVCacheManager::PlannedBytes(CacheConfig(options)));
  return num_parameters * static_cast<int64_t>(sizeof(float)) + cache_bytes +
         ContextBatchBytes(options.model, options.num_envs) +
         StepBuffersBytes(options.model, options.shape, options.num_envs);
}

UniZeroInference::UniZeroInference(const UniZeroInferenceOptions& options,
                                   std::shared_ptr<WorldModel> model)
    : options_(options),
      num_past_steps_(NumRootPastSteps(options.model)),
      model_(std::move(model)),
      root_contexts_(MakeContextBatch(*model_, options.num_envs)),
      root_logits_(at::zeros({options.num_envs, options.shape.num_actions})),
      root_values_(at::zeros({options.num_envs})) {}

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
  CopyOut(root_logits_, prior_logits);
  CopyOut(root_values_, value);
  return absl::OkStatus();
}

void UniZeroInference::ReadRoots(const at::Tensor& y, absl::Span<const int> rows) {
  const at::Tensor index =
      at::tensor(at::ArrayRef<int>(rows.data(), rows.size()), at::kInt).to(at::kLong);
  root_logits_.index_copy_(0, index, model_->PolicyLogits(y));
  root_values_.index_copy_(0, index, model_->Decode(model_->ValueLogits(y)));
}

absl::Status UniZeroInference::RebuildRoots(absl::Span<const Root> roots,
                                            absl::Span<const int> rows) {
  const int64_t num_rows = static_cast<int64_t>(rows.size());
  int64_t num_past = 0;  // of the longest row
  for (const int row : rows) {
    num_past = std::max(num_past, static_cast<int64_t>(roots[row].actions.size()));
  }
  num_past = std::min(num_past, num_past_steps_);
  const int64_t observation_size =
      static_cast<int64_t>(roots[0].observations.size() / (roots[0].actions.size() + 1));
  // Right-aligned: the root's observation is the last token of every row.
  at::Tensor observations = at::zeros({num_rows, num_past + 1, observation_size});
  at::Tensor actions = at::zeros({num_rows, num_past + 1}, at::kInt);
  at::Tensor num_padding = at::zeros({num_rows}, at::kLong);
  for (int64_t i = 0; i < num_rows; ++i) {
    const Root& root = roots[rows[i]];
    const int64_t past = std::min(num_past, static_cast<int64_t>(root.actions.size()));
    std::copy_n(root.observations.end() - (past + 1) * observation_size,
                (past + 1) * observation_size, observations[i][num_past - past].data_ptr<float>());
    std::copy_n(root.actions.end() - past, past, actions[i].data_ptr<int>() + num_past - past);
    num_padding.data_ptr<int64_t>()[i] = 2 * (num_past - past);
  }
  const at::Tensor latents =
      model_->Encode(observations.flatten(0, 1)).view({num_rows, num_past + 1, -1});
  const at::Tensor tokens = at::stack({latents, model_->EmbedActions(actions)}, 2).flatten(1, 2);
  const int64_t num_tokens = 2 * num_past + 1;  // no action after the root's observation yet
  at::Tensor keys_values;
  const at::Tensor outputs =
      model_->transformer().Forward(tokens.narrow(1, 0, num_tokens), num_padding, &keys_values);
  ReadRoots(outputs.select(1, num_tokens - 1), rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t padding = num_padding.data_ptr<int64_t>()[i];
    const Root& root = roots[rows[i]];
    LZ_RETURN_IF_ERROR(roots_->Store(root.env, root.step,
                                     keys_values[i].narrow(0, padding, num_tokens - padding),
                                     num_tokens - padding));
  }
  root_stats_.rebuilt += num_rows;
  return absl::OkStatus();
}

absl::Status UniZeroInference::ContinueRoots(absl::Span<const Root> roots,
                                             absl::Span<const int> rows) {
  const int64_t num_rows = static_cast<int64_t>(rows.size());
  const int64_t observation_size =
      static_cast<int64_t>(roots[0].observations.size() / (roots[0].actions.size() + 1));
  at::Tensor observations = at::zeros({num_rows, observation_size});
  at::Tensor actions = at::zeros({num_rows}, at::kLong);
  parent_keys_.clear();
  for (int64_t i = 0; i < num_rows; ++i) {
    const Root& root = roots[rows[i]];
    parent_keys_.push_back({root.env, kRootNode});
    std::copy_n(root.observations.end() - observation_size, observation_size,
                observations[i].data_ptr<float>());
    actions.data_ptr<int64_t>()[i] = root.actions.back();
  }
  const int64_t carried_before = cache_->stats().carried_reads;
  LZ_RETURN_IF_ERROR(cache_->CloneInto(parent_keys_, &root_contexts_));
  root_stats_.carried += cache_->stats().carried_reads - carried_before;
  const at::Tensor contexts = root_contexts_.tokens.narrow(0, 0, num_rows);
  const at::Tensor lengths = root_contexts_.lengths.narrow(0, 0, num_rows);
  const TwoTokenOutputs outputs =
      RunTwoTokens(*model_, contexts, lengths, actions, model_->Encode(observations));
  ReadRoots(outputs.at_observation, rows);
  const at::Tensor windows = at::cat({contexts, outputs.tokens}, 1);
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t length = lengths.data_ptr<int64_t>()[i] + 2;
    const Root& root = roots[rows[i]];
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
  int64_t* action_buffer = buffers.actions.data_ptr<int64_t>();
  for (size_t i = 0; i < parents.size(); ++i) {
    parent_keys_.push_back({envs_[i], parents[i]});
    child_keys_.push_back({envs_[i], parents[i], children[i]});
    action_buffer[i] = actions[i];
  }
  {
    const ScopedTimer timer(&copy_time_);
    LZ_RETURN_IF_ERROR(cache_->CloneInto(parent_keys_, &buffers.contexts));
  }
  {
    const ScopedTimer timer(&network_time_);
    LZ_RETURN_IF_ERROR(step_->Run(static_cast<int64_t>(parents.size())));
  }
  const ScopedTimer timer(&copy_time_);
  LZ_RETURN_IF_ERROR(cache_->StoreRecurrent(child_keys_, buffers.tokens));
  CopyOut(buffers.rewards, rewards);
  CopyOut(buffers.values, values);
  CopyOut(buffers.prior_logits, prior_logits);
  const double sign = options_.num_players == 2 ? -1.0 : 1.0;
  std::fill(discounts.begin(), discounts.end(), static_cast<float>(sign * options_.discount));
  return absl::OkStatus();
}

}  // namespace lzero
