#include "lzero/family/unizero/runners/eager_roots.h"

#include <algorithm>
#include <utility>

#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/family/unizero/runners/recurrent_step.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

RootInputsShape InputsShape(const ModelConfig& config, const WorldModelShape& shape,
                            int64_t max_roots) {
  return {max_roots, NumRootPastSteps(config), shape.observation_size(), shape.action_dim};
}

}  // namespace

EagerRoots::EagerRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts,
                       int64_t max_roots)
    : model_(model),
      cache_(cache),
      contexts_(contexts),
      inputs_(InputsShape(model.config(), model.shape(), max_roots), model.device()),
      context_batch_(MakeContextTensors(model, max_roots)),
      lengths_(Staging::Wrap("lengths of roots", context_batch_.lengths)),
      logits_(Staging::Wrap(
          "prior logits of roots",
          at::zeros({max_roots, model.shape().policy_size()}, context_batch_.tokens.options()))),
      values_(Staging::Wrap("values of roots",
                            at::zeros({max_roots}, context_batch_.tokens.options()))) {}

int64_t EagerRoots::Bytes(const ModelConfig& config, const WorldModelShape& shape,
                          int64_t max_roots) {
  return ContextTensorsBytes(config, max_roots) +
         RootInputs::Bytes(InputsShape(config, shape, max_roots)) +
         max_roots * (shape.policy_size() + 1) * static_cast<int64_t>(sizeof(float));
}

void EagerRoots::WriteHeads(const at::Tensor& y) {
  const int64_t num_rows = y.size(0);
  logits_.tensor().narrow(0, 0, num_rows).copy_(model_.PolicyLogits(y));
  values_.tensor().narrow(0, 0, num_rows).copy_(model_.DecodeValues(model_.ValueLogits(y)));
}

at::Tensor EagerRoots::ComputePasts(int64_t num_rows, int64_t num_past) {
  const c10::InferenceMode inference;
  const RootPasts pasts = inputs_.PastRows(num_rows, num_past);
  const at::Tensor latents = model_.Encode(pasts.observations).view({num_rows, num_past + 1, -1});
  const at::Tensor tokens = model_.MakeTokens(latents, pasts.actions);
  const int64_t num_tokens = 2 * num_past + 1;  // no action after the root's observation yet
  // One pass over them; the heads read the last token.
  at::Tensor keys_values;
  const at::Tensor y = model_.transformer().Forward(tokens.narrow(1, 0, num_tokens),
                                                    pasts.num_padding, &keys_values);
  WriteHeads(y.select(1, num_tokens - 1));
  return keys_values;
}

at::Tensor EagerRoots::ComputeSteps(int64_t num_rows) {
  const c10::InferenceMode inference;
  const RootSteps steps = inputs_.StepRows(num_rows);
  // Two tokens on each context.
  const at::Tensor contexts = context_batch_.tokens.narrow(0, 0, num_rows);
  const TwoTokenOutputs both =
      RunTwoTokens(model_, contexts, context_batch_.lengths.narrow(0, 0, num_rows), steps.actions,
                   model_.Encode(steps.observations));
  WriteHeads(both.at_observation);
  return at::cat({contexts, both.tokens}, 1);
}

absl::Status EagerRoots::Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                                 const RootOutputs& outputs) {
  return CatchTorch([&]() -> absl::Status {
    const c10::InferenceMode inference;
    // The whole pasts as sequences of tokens.
    LZ_ASSIGN_OR_RETURN(const RootPasts pasts, inputs_.StagePasts(roots, rows, least_past()));
    LZ_ASSIGN_OR_RETURN(const at::Tensor tokens,
                        RunPasts(pasts.actions.size(0), pasts.actions.size(1) - 1));
    LZ_RETURN_IF_ERROR(Read(rows, outputs));
    // Store the contexts.
    stored_.clear();
    for (int64_t i = 0; i < pasts.actions.size(0); ++i) {
      const Root& root = roots[rows[i]];
      const int64_t length = pasts.past_tokens[i];
      stored_.push_back({root.env, root.step, (i + 1) * tokens.size(1), length, length});
    }
    return contexts_->Store(stored_, FloatRows(tokens.flatten(0, 1)));
  });
}

absl::Status EagerRoots::Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                                  const RootOutputs& outputs) {
  return CatchTorch([&]() -> absl::Status {
    const c10::InferenceMode inference;
    const auto num_rows = static_cast<int64_t>(rows.size());
    // Cached contexts and the newest step.
    keys_.clear();
    for (const int row : rows) keys_.push_back({roots[row].env, kRootNode});
    LZ_RETURN_IF_ERROR(cache_->CloneInto(keys_, context_batch_.batch()));
    host_lengths_.resize(num_rows);
    LZ_RETURN_IF_ERROR(lengths_.CopyOut(absl::MakeSpan(host_lengths_)));
    LZ_RETURN_IF_ERROR(inputs_.StageNewest(roots, rows).status());
    LZ_ASSIGN_OR_RETURN(const at::Tensor windows, RunSteps(num_rows));
    LZ_RETURN_IF_ERROR(Read(rows, outputs));
    // Store the contexts with both tokens behind.
    stored_.clear();
    for (int64_t i = 0; i < num_rows; ++i) {
      const Root& root = roots[rows[i]];
      stored_.push_back(
          {root.env, root.step, (i + 1) * windows.size(1), host_lengths_[i] + 2, /*num_new=*/2});
    }
    return contexts_->Store(stored_, FloatRows(windows.flatten(0, 1)));
  });
}

absl::Status EagerRoots::Read(absl::Span<const int> rows, const RootOutputs& outputs) {
  const auto num_rows = static_cast<int64_t>(rows.size());
  const int64_t policy_size = model_.shape().policy_size();
  host_logits_.resize(num_rows * policy_size);
  host_values_.resize(num_rows);
  LZ_RETURN_IF_ERROR(logits_.CopyOut(absl::MakeSpan(host_logits_)));
  LZ_RETURN_IF_ERROR(values_.CopyOut(absl::MakeSpan(host_values_)));
  for (int64_t i = 0; i < num_rows; ++i) {
    outputs.values[rows[i]] = host_values_[i];
    std::copy_n(host_logits_.begin() + i * policy_size, policy_size,
                outputs.prior_logits.begin() + rows[i] * policy_size);
  }
  return absl::OkStatus();
}

}  // namespace lzero
