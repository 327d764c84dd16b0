#include "lzero/family/unizero/engine/packed_roots.h"

#include <algorithm>
#include <vector>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/engine/packed_step.h"

namespace lzero {
namespace {

int64_t MaxTokens(const ModelConfig& config) { return 2 * NumRootPastSteps(config) + 1; }

int64_t TokenSize(const ModelConfig& config) { return config.num_layers * 2 * config.embed_dim; }

class PackedRoots : public RootRunner {
 public:
  PackedRoots(PackedStep* step, KVCacheManager* cache, RootContexts* contexts)
      : model_(step->options().model),
        shape_(step->options().shape),
        network_(&step->network()),
        encoder_(step->encoder()),
        cache_(cache),
        contexts_(contexts),
        observation_size_(shape_.observation_size()),
        max_past_steps_(NumRootPastSteps(model_)),
        context_batch_(model_, cache->config().num_envs) {
    const int64_t max_roots = cache->config().num_envs;
    const int64_t num_steps = max_roots * (max_past_steps_ + 1);
    pasts_.reserve(max_roots);
    keys_.reserve(max_roots);
    actions_.reserve(max_roots);
    action_values_.reserve(max_roots * shape_.action_dim);
    observations_.reserve(num_steps * observation_size_);
    if (encoder_ != nullptr) latents_.resize(num_steps * model_.embed_dim);
    latent_rows_.reserve(num_steps);
    tokens_.resize(max_roots * MaxTokens(model_) * TokenSize(model_));
    values_.resize(max_roots);
    prior_logits_.resize(max_roots * shape_.policy_size());
  }

  absl::Status Rebuild(absl::Span<const Root> roots, absl::Span<const int> rows,
                       const RootOutputs& outputs) override {
    const int64_t token_size = TokenSize(model_);
    const bool packed_encoder = encoder_ == nullptr;
    // Gather the pasts; each has its part of tokens_.
    observations_.clear();
    pasts_.clear();
    int64_t num_steps = 0, num_tokens = 0;
    for (const int row : rows) {
      const Root& root = roots[row];
      packed::RootPast past;
      past.num_past_steps = std::min(max_past_steps_, static_cast<int64_t>(root.actions.size()));
      past.actions = root.actions.end() - past.num_past_steps;
      past.action_values = root.action_values.end() - past.num_past_steps * shape_.action_dim;
      past.tokens = tokens_.data() + num_tokens * token_size;
      AppendObservations(root, past.num_past_steps + 1);
      num_steps += past.num_past_steps + 1;
      num_tokens += 2 * past.num_past_steps + 1;
      pasts_.push_back(past);
    }
    // Encode, or leave it to the network.
    if (!packed_encoder) Encode();
    int64_t step = 0;
    for (packed::RootPast& past : pasts_) {
      past.observations =
          packed_encoder ? observations_.data() + step * observation_size_ : nullptr;
      past.latents = packed_encoder ? nullptr : latents_.data() + step * model_.embed_dim;
      step += past.num_past_steps + 1;
    }
    // Evaluate.
    LZ_RETURN_IF_ERROR(network_->RebuildRoots(pasts_, values_.data(), prior_logits_.data()));
    CopyOut(rows, outputs);
    // Store the contexts.
    for (size_t i = 0; i < rows.size(); ++i) {
      const Root& root = roots[rows[i]];
      const size_t size = static_cast<size_t>((2 * pasts_[i].num_past_steps + 1) * token_size);
      LZ_RETURN_IF_ERROR(contexts_->StoreRows(root.env, root.step, {}, {pasts_[i].tokens, size}));
    }
    return absl::OkStatus();
  }

  absl::Status Continue(absl::Span<const Root> roots, absl::Span<const int> rows,
                        const RootOutputs& outputs) override {
    // Gather the newest steps and the cached contexts.
    keys_.clear();
    actions_.clear();
    action_values_.clear();
    observations_.clear();
    for (const int row : rows) {
      keys_.push_back({roots[row].env, kRootNode});
      actions_.push_back(roots[row].actions.back());
      const auto values = roots[row].action_values.last(shape_.action_dim);
      action_values_.insert(action_values_.end(), values.begin(), values.end());
      AppendObservations(roots[row], 1);
    }
    LZ_RETURN_IF_ERROR(cache_->CloneInto(keys_, context_batch_.batch()));
    // Encode, or leave it to the network.
    const bool packed_encoder = encoder_ == nullptr;
    if (!packed_encoder) Encode();
    // Evaluate.
    packed::StepArrays arrays = {};
    arrays.contexts = context_batch_.tokens();
    arrays.lengths = context_batch_.lengths();
    arrays.actions = actions_.data();
    arrays.action_values = action_values_.data();
    arrays.observations = packed_encoder ? observations_.data() : nullptr;
    arrays.latents = packed_encoder ? nullptr : latents_.data();
    arrays.values = values_.data();
    arrays.prior_logits = prior_logits_.data();
    arrays.tokens = tokens_.data();
    LZ_RETURN_IF_ERROR(network_->ContinueRoots(arrays, static_cast<int64_t>(rows.size())));
    CopyOut(rows, outputs);
    // Store the contexts with the two new tokens behind.
    const auto token_size = static_cast<size_t>(TokenSize(model_));
    const auto window = static_cast<size_t>(model_.context_length - 1);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Root& root = roots[rows[i]];
      const absl::Span<const float> context(arrays.contexts + i * window * token_size,
                                            window * token_size);
      const auto length = static_cast<size_t>(arrays.lengths[i]);
      LZ_RETURN_IF_ERROR(
          contexts_->StoreRows(root.env, root.step, context.last(length * token_size),
                               {tokens_.data() + 2 * i * token_size, 2 * token_size}));
    }
    return absl::OkStatus();
  }

 private:
  // Appends the newest `num_steps` observations of a root to observations_.
  void AppendObservations(const Root& root, int64_t num_steps) {
    const size_t count = static_cast<size_t>(num_steps * observation_size_);
    LZ_CHECK(root.observations.size() >= count, root.observations.size(), " numbers for ",
             num_steps, " observations of ", observation_size_);
    const absl::Span<const float> newest = root.observations.last(count);
    observations_.insert(observations_.end(), newest.begin(), newest.end());
  }

  // Encodes all observations_ into latents_.
  void Encode() {
    const auto num_rows = static_cast<int64_t>(observations_.size()) / observation_size_;
    latent_rows_.clear();
    for (int64_t row = 0; row < num_rows; ++row) {
      latent_rows_.push_back(latents_.data() + row * model_.embed_dim);
    }
    encoder_->Encode(observations_.data(), num_rows, latent_rows_.data(), {});
  }

  void CopyOut(absl::Span<const int> rows, const RootOutputs& outputs) const {
    const int64_t policy_size = shape_.policy_size();
    for (size_t i = 0; i < rows.size(); ++i) {
      outputs.values[rows[i]] = values_[i];
      std::copy_n(prior_logits_.begin() + static_cast<int64_t>(i) * policy_size, policy_size,
                  outputs.prior_logits.begin() + rows[i] * policy_size);
    }
  }

  const ModelConfig& model_;
  const WorldModelShape& shape_;
  packed::PackedNetwork* network_;
  packed::LatentModel* encoder_;  // null: the network encodes
  KVCacheManager* cache_;
  RootContexts* contexts_;
  int64_t observation_size_;
  int64_t max_past_steps_;
  PackedContexts context_batch_;
  // The host's side; keeps its memory between calls.
  std::vector<packed::RootPast> pasts_;
  std::vector<ContextKey> keys_;
  std::vector<float> observations_, latents_, tokens_, values_, prior_logits_, action_values_;
  std::vector<float*> latent_rows_;
  std::vector<int64_t> actions_;
};

}  // namespace

std::unique_ptr<RootRunner> MakePackedRoots(PackedStep* step, KVCacheManager* cache,
                                            RootContexts* contexts) {
  return std::make_unique<PackedRoots>(step, cache, contexts);
}

int64_t PackedRootsBytes(const ModelConfig& config, const WorldModelShape& shape,
                         int64_t max_roots) {
  const int64_t steps = NumRootPastSteps(config) + 1;
  const int64_t latents = EncodesInPacked(config) ? 0 : config.embed_dim;
  const int64_t floats = steps * (shape.observation_size() + latents) +
                         MaxTokens(config) * TokenSize(config) + 1 + shape.policy_size() +
                         shape.action_dim;
  const auto others =
      static_cast<int64_t>(sizeof(packed::RootPast) + sizeof(ContextKey) + sizeof(int64_t));
  return PackedContexts::Bytes(config, max_roots) +
         max_roots * (floats * static_cast<int64_t>(sizeof(float)) + others);
}

}  // namespace lzero
