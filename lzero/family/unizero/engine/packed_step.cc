#include "lzero/family/unizero/engine/packed_step.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/family/unizero/engine/root_runner.h"

namespace lzero {
namespace {

using packed::BlockWeights;
using packed::HeadWeights;
using packed::NetworkOptions;
using packed::NetworkShape;
using packed::WeightSource;

constexpr auto kFloatSize = static_cast<int64_t>(sizeof(float));
constexpr auto kIntegerSize = static_cast<int64_t>(sizeof(int64_t));

BlockWeights BlockOf(const WeightSource& weights, const std::string& module, int64_t size) {
  return {weights.Norm(module + ".norm_attention", size),
          weights.Linear(module + ".qkv", size, 3 * size),
          weights.Linear(module + ".projection", size, size),
          weights.Norm(module + ".norm_feed_forward", size),
          weights.Linear(module + ".expand", size, 4 * size),
          weights.Linear(module + ".contract", 4 * size, size)};
}

HeadWeights HeadOf(const WeightSource& weights, const std::string& module,
                   const NetworkShape& shape, int64_t out) {
  return {weights.Norm(module + ".norm_in", shape.embed_dim),
          weights.Linear(module + ".first", shape.embed_dim, shape.head_dim),
          weights.Norm(module + ".norm_hidden", shape.head_dim),
          weights.Linear(module + ".last", shape.head_dim, out)};
}

packed::NetworkWeights WeightsOf(const WeightSource& source, const NetworkShape& shape) {
  packed::NetworkWeights weights;
  weights.action_embedding = source.Get("action_embedding", {shape.action_rows(), shape.embed_dim});
  for (int64_t i = 0; i < shape.num_layers; ++i) {
    weights.blocks.push_back(
        BlockOf(source, absl::StrCat("transformer.block", i), shape.embed_dim));
  }
  weights.policy = HeadOf(source, "policy_head", shape, shape.policy_size());
  weights.value = HeadOf(source, "value_head", shape, shape.value_support.size);
  weights.reward = HeadOf(source, "reward_head", shape, shape.reward_support.size);
  weights.latent = HeadOf(source, "latent_head", shape, shape.embed_dim);
  if (shape.observation_size == 0) return weights;
  int64_t in = shape.observation_size;
  for (int64_t i = 0; i < shape.encoder_layers; ++i) {
    weights.encoder.hidden.push_back(
        source.Linear(absl::StrCat("encoder.hidden", i), in, shape.encoder_width));
    weights.encoder.norms.push_back(
        source.Norm(absl::StrCat("encoder.norm", i), shape.encoder_width));
    in = shape.encoder_width;
  }
  weights.encoder.last = source.Linear("encoder.last", in, shape.embed_dim);
  return weights;
}

NetworkOptions NetworkOptionsOf(const PackedStepOptions& options) {
  const ModelConfig& config = options.model;
  NetworkOptions made;
  // Sizes of the model.
  NetworkShape& network = made.shape;
  network.embed_dim = config.embed_dim;
  network.num_heads = config.num_heads;
  network.num_layers = config.num_layers;
  network.context_length = config.context_length;
  network.head_dim = config.head_units();
  network.num_actions = options.shape.num_actions;
  network.action_dim = options.shape.action_dim;
  network.value_support = SupportOf(config.value_range(), config.support_size);
  network.reward_support = SupportOf(config.reward_range(), config.support_size);
  network.latent_norm = config.latent_norm;
  network.sim_norm_group = config.sim_norm_group;
  if (EncodesInPacked(config)) {
    network.observation_size = options.shape.observation_size();
    network.encoder_width = config.encoder_width;
    network.encoder_layers = config.encoder_layers;
  }
  // How it runs.
  made.type = options.dtype == InferenceDtype::kBf16 ? WeightType::kBf16 : WeightType::kFp32;
  made.max_batch = options.max_batch;
  made.max_root_tokens = 2 * NumRootPastSteps(config) + 1;
  made.num_threads = options.num_threads;
  return made;
}

// Encodes, and no more.
packed::LatentModelOptions EncoderOptions(const PackedStepOptions& options) {
  packed::LatentModelOptions made;
  made.model = options.model;
  made.observation_shape = options.shape.observation_shape;
  made.max_rows = options.max_batch * (NumRootPastSteps(options.model) + 1);
  made.num_threads = options.num_threads;
  return made;
}

// Floats of the outputs of a row: reward, value, prior logits, two tokens.
int64_t OutputsSize(const PackedStepOptions& options) {
  return 2 + options.shape.policy_size() +
         2 * options.model.num_layers * 2 * options.model.embed_dim;
}

}  // namespace

PackedContexts::PackedContexts(const ModelConfig& config, int64_t max_batch)
    : tokens_(max_batch * (config.context_length - 1) * config.num_layers * 2 * config.embed_dim),
      lengths_(static_cast<size_t>(max_batch)) {}

int64_t PackedContexts::Bytes(const ModelConfig& config, int64_t max_batch) {
  const int64_t floats = (config.context_length - 1) * config.num_layers * 2 * config.embed_dim;
  return max_batch * (floats * kFloatSize + kIntegerSize);
}

ContextBatch PackedContexts::batch() {
  const auto rows = static_cast<int64_t>(lengths_.size());
  return {{tokens_.data(), rows, tokens_.size() / rows}, {lengths_.data(), rows, 1}};
}

bool EncodesInPacked(const ModelConfig& config) {
  return config.encoder == EncoderKind::kVector && !config.normalize_observations;
}

PackedStep::PackedStep(const PackedStepOptions& options)
    : options_(options),
      network_(NetworkOptionsOf(options)),
      contexts_(options.model, options.max_batch),
      actions_(static_cast<size_t>(options.max_batch)),
      action_values_(options.max_batch * options.shape.action_dim),
      rewards_(options.max_batch),
      values_(options.max_batch),
      logits_(options.max_batch * options.shape.policy_size()),
      tokens_(options.max_batch * 2 * network_.shape().token_size()) {
  if (!EncodesInPacked(options.model)) {
    encoder_ = std::make_unique<packed::LatentModel>(EncoderOptions(options));
  }
  arrays_.contexts = contexts_.tokens();
  arrays_.lengths = contexts_.lengths();
  const bool is_box = options.shape.action_dim > 0;
  arrays_.actions = is_box ? nullptr : actions_.data();
  arrays_.action_values = is_box ? action_values_.data() : nullptr;
  arrays_.rewards = rewards_.data();
  arrays_.values = values_.data();
  arrays_.prior_logits = logits_.data();
  arrays_.tokens = tokens_.data();
}

int64_t PackedStep::Bytes(const PackedStepOptions& options) {
  const int64_t encoder =
      EncodesInPacked(options.model) ? 0 : packed::LatentModel::Bytes(EncoderOptions(options));
  return packed::PackedNetwork::Bytes(NetworkOptionsOf(options)) + encoder +
         PackedContexts::Bytes(options.model, options.max_batch) +
         options.max_batch *
             (kIntegerSize + (options.shape.action_dim + OutputsSize(options)) * kFloatSize);
}

void PackedStep::Load(const WeightSource& weights) {
  network_.Load(WeightsOf(weights, network_.shape()));
  if (encoder_ != nullptr) encoder_->Load(weights);
}

absl::Status PackedStep::RunNodes(const NodeStep& nodes, KVCacheManager* cache,
                                  const StepTimes& times) {
  {
    const ScopedTimer timer(times.copy);
    std::copy(nodes.actions.indices.begin(), nodes.actions.indices.end(), actions_.begin());
    std::copy(nodes.actions.values.begin(), nodes.actions.values.end(), action_values_.data());
    LZ_RETURN_IF_ERROR(cache->CloneInto(nodes.parents, contexts_.batch()));
  }
  const auto count = static_cast<int64_t>(nodes.parents.size());
  {
    const ScopedTimer timer(times.network);
    LZ_RETURN_IF_ERROR(network_.Step(arrays_, count));
  }
  const ScopedTimer timer(times.copy);
  LZ_RETURN_IF_ERROR(cache->StoreRecurrent(
      nodes.children, {tokens_.data(), count, 2 * network_.shape().token_size()}));
  std::copy_n(rewards_.data(), nodes.rewards.size(), nodes.rewards.begin());
  std::copy_n(values_.data(), nodes.values.size(), nodes.values.begin());
  std::copy_n(logits_.data(), nodes.policies.size(), nodes.policies.begin());
  return absl::OkStatus();
}

}  // namespace lzero
