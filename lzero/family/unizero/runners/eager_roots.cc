#include "lzero/family/unizero/runners/eager_roots.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/root_inputs.h"
#include "lzero/family/unizero/runners/eager_step.h"
#include "lzero/tensor/staging.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

RootInputsShape InputsShape(const ModelConfig& config, const WorldModelShape& shape,
                            int64_t max_roots) {
  return {max_roots, NumRootPastSteps(config), shape.observation_size(), shape.action_dim};
}

class EagerRoots : public RootRunner {
 public:
  EagerRoots(const WorldModel& model, KVCacheManager* cache, RootContexts* contexts)
      : model_(model),
        cache_(cache),
        contexts_(contexts),
        inputs_(InputsShape(model.config(), model.shape(), cache->config().num_envs),
                model.device()),
        context_batch_(MakeContextBatch(model, cache->config().num_envs)),
        lengths_(Staging::Wrap("lengths of roots", context_batch_.lengths)),
        logits_(Staging::Wrap("prior logits of roots",
                              at::zeros({cache->config().num_envs, model.shape().policy_size()},
                                        context_batch_.tokens.options()))),
        values_(Staging::Wrap("values of roots", at::zeros({cache->config().num_envs},
                                                           context_batch_.tokens.options()))) {}

  absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                       const RootOutputs& outputs) override {
    return CatchTorch([&]() -> absl::Status {
      const c10::InferenceMode inference;
      // The whole pasts as sequences of tokens.
      LZ_ASSIGN_OR_RETURN(const RootPasts pasts, inputs_.StagePasts(roots, rows));
      const int64_t num_rows = pasts.actions.size(0);
      const int64_t num_steps = pasts.actions.size(1);
      const at::Tensor latents = model_.Encode(pasts.observations).view({num_rows, num_steps, -1});
      const at::Tensor tokens = model_.MakeTokens(latents, pasts.actions);
      const int64_t num_tokens = 2 * num_steps - 1;  // no action after the root's observation yet
      // One pass over them; the heads read the last token.
      at::Tensor keys_values;
      const at::Tensor y = model_.transformer().Forward(tokens.narrow(1, 0, num_tokens),
                                                        pasts.num_padding, &keys_values);
      LZ_RETURN_IF_ERROR(Read(y.select(1, num_tokens - 1), rows, outputs));
      // Store the contexts.
      stored_.clear();
      for (int64_t i = 0; i < num_rows; ++i) {
        const Root& root = roots[rows[i]];
        const int64_t length = pasts.past_tokens[i];
        stored_.push_back({root.env, root.step, (i + 1) * num_tokens, length, length});
      }
      return contexts_->Store(stored_, keys_values.flatten(0, 1));
    });
  }

  absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                        const RootOutputs& outputs) override {
    return CatchTorch([&]() -> absl::Status {
      const c10::InferenceMode inference;
      const auto num_rows = static_cast<int64_t>(rows.size());
      // Cached contexts and the newest step.
      keys_.clear();
      for (const int row : rows) keys_.push_back({roots[row].env, kRootNode});
      LZ_RETURN_IF_ERROR(cache_->CloneInto(keys_, &context_batch_));
      host_lengths_.resize(num_rows);
      LZ_RETURN_IF_ERROR(lengths_.CopyOut(absl::MakeSpan(host_lengths_)));
      LZ_ASSIGN_OR_RETURN(const RootSteps steps, inputs_.StageNewest(roots, rows));
      // Two tokens on each context.
      const at::Tensor contexts = context_batch_.tokens.narrow(0, 0, num_rows);
      const TwoTokenOutputs both =
          RunTwoTokens(model_, contexts, context_batch_.lengths.narrow(0, 0, num_rows),
                       steps.actions, model_.Encode(steps.observations));
      LZ_RETURN_IF_ERROR(Read(both.at_observation, rows, outputs));
      // Store the contexts with both tokens behind.
      const at::Tensor windows = at::cat({contexts, both.tokens}, 1);
      stored_.clear();
      for (int64_t i = 0; i < num_rows; ++i) {
        const Root& root = roots[rows[i]];
        stored_.push_back(
            {root.env, root.step, (i + 1) * windows.size(1), host_lengths_[i] + 2, /*num_new=*/2});
      }
      return contexts_->Store(stored_, windows.flatten(0, 1));
    });
  }

 private:
  // Writes the heads of y [rows, E] into the outputs at `rows`.
  absl::Status Read(const at::Tensor& y, absl::Span<const int> rows, const RootOutputs& outputs) {
    const auto num_rows = static_cast<int64_t>(rows.size());
    const int64_t policy_size = model_.shape().policy_size();
    logits_.tensor().narrow(0, 0, num_rows).copy_(model_.PolicyLogits(y));
    values_.tensor().narrow(0, 0, num_rows).copy_(model_.Decode(model_.ValueLogits(y)));
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

  const WorldModel& model_;
  KVCacheManager* cache_;
  RootContexts* contexts_;
  RootInputs inputs_;
  ContextBatch context_batch_;
  // Between host and device.
  Staging lengths_;  // [max_roots] of context_batch_
  Staging logits_;   // [max_roots, policy size]
  Staging values_;   // [max_roots]
  std::vector<ContextKey> keys_;
  std::vector<RootTokens> stored_;
  std::vector<int64_t> host_lengths_;
  std::vector<float> host_logits_, host_values_;
};

}  // namespace

std::unique_ptr<RootRunner> MakeEagerRoots(const WorldModel& model, KVCacheManager* cache,
                                           RootContexts* contexts) {
  return std::make_unique<EagerRoots>(model, cache, contexts);
}

int64_t EagerRootsBytes(const ModelConfig& config, const WorldModelShape& shape,
                        int64_t max_roots) {
  return ContextBatchBytes(config, max_roots) +
         RootInputs::Bytes(InputsShape(config, shape, max_roots)) +
         max_roots * (shape.policy_size() + 1) * static_cast<int64_t>(sizeof(float));
}

}  // namespace lzero
