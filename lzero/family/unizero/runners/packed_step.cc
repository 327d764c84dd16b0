#include "lzero/family/unizero/runners/packed_step.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/family/unizero/runners/root_runner.h"
#include "lzero/inference/network_weights.h"
#include "lzero/tensor/torch.h"

namespace lzero {
namespace {

using packed::BlockWeights;
using packed::HeadWeights;
using packed::NetworkOptions;
using packed::NetworkShape;

// Spans over the parameters of a model, by the names of its modules.
class ParameterSpans {
 public:
  explicit ParameterSpans(const WorldModel& model) : parameters_(model.named_parameters()) {}

  absl::Span<const float> Get(const std::string& name) const {
    const at::Tensor& tensor = parameters_[name];
    LZ_CHECK(tensor.is_cpu() && tensor.is_contiguous() && tensor.scalar_type() == at::kFloat, name,
             " is ", tensor.toString());
    return {tensor.const_data_ptr<float>(), static_cast<size_t>(tensor.numel())};
  }
  LinearWeights Linear(const std::string& module) const {
    return {Get(module + ".weight"), Get(module + ".bias")};
  }
  NormWeights Norm(const std::string& module) const {
    return {Get(module + ".weight"), Get(module + ".bias")};
  }
  HeadWeights Head(const std::string& module) const {
    return {Norm(module + ".norm_in"), Linear(module + ".first"), Norm(module + ".norm_hidden"),
            Linear(module + ".last")};
  }
  BlockWeights Block(const std::string& module) const {
    return {Norm(module + ".norm_attention"), Linear(module + ".qkv"),
            Linear(module + ".projection"),   Norm(module + ".norm_feed_forward"),
            Linear(module + ".expand"),       Linear(module + ".contract")};
  }

 private:
  torch::OrderedDict<std::string, at::Tensor> parameters_;
};

packed::NetworkWeights WeightsOf(const WorldModel& model) {
  const ParameterSpans spans(model);
  packed::NetworkWeights weights;
  weights.action_embedding = spans.Get("action_embedding");
  for (int64_t i = 0; i < model.config().num_layers; ++i) {
    weights.blocks.push_back(spans.Block(absl::StrCat("transformer.block", i)));
  }
  weights.policy = spans.Head("policy_head");
  weights.value = spans.Head("value_head");
  weights.reward = spans.Head("reward_head");
  weights.latent = spans.Head("latent_head");
  if (!EncodesInPacked(model.config())) return weights;
  for (int64_t i = 0; i < model.config().encoder_layers; ++i) {
    weights.encoder.hidden.push_back(spans.Linear(absl::StrCat("encoder.hidden", i)));
    weights.encoder.norms.push_back(spans.Norm(absl::StrCat("encoder.norm", i)));
  }
  weights.encoder.last = spans.Linear("encoder.last");
  return weights;
}

NetworkOptions OptionsOf(const ModelConfig& config, const WorldModelShape& shape, int64_t max_batch,
                         InferenceDtype dtype, int num_threads) {
  NetworkOptions options;
  // Sizes of the model.
  NetworkShape& network = options.shape;
  network.embed_dim = config.embed_dim;
  network.num_heads = config.num_heads;
  network.num_layers = config.num_layers;
  network.context_length = config.context_length;
  network.head_dim = config.head_dim.value_or(4 * config.embed_dim);
  network.num_actions = shape.num_actions;
  network.action_dim = shape.action_dim;
  network.support_size = config.support_size;
  network.latent_norm = config.latent_norm;
  network.sim_norm_group = config.sim_norm_group;
  if (EncodesInPacked(config)) {
    network.observation_size = shape.observation_size();
    network.encoder_width = config.encoder_width;
    network.encoder_layers = config.encoder_layers;
  }
  // How it runs.
  options.type = dtype == InferenceDtype::kBf16 ? WeightType::kBf16 : WeightType::kFp32;
  options.max_batch = max_batch;
  options.max_root_tokens = 2 * NumRootPastSteps(config) + 1;
  options.num_threads = num_threads;
  return options;
}

// Encodes, and no more.
packed::LatentModelOptions EncoderOptions(const ModelConfig& config, const WorldModelShape& shape,
                                          int64_t max_batch, int num_threads) {
  packed::LatentModelOptions options;
  options.model = config;
  options.observation_shape = shape.observation_shape;
  options.max_rows = max_batch * (NumRootPastSteps(config) + 1);
  options.num_threads = num_threads;
  return options;
}

}  // namespace

bool EncodesInPacked(const ModelConfig& config) { return config.encoder == EncoderKind::kVector; }

PackedStep::PackedStep(const WorldModel& model, int64_t max_batch, InferenceDtype dtype,
                       int num_threads)
    : BufferedStep(MakeStepBuffers(model, max_batch)),
      model_(model),
      weights_(WeightsOf(model)),
      network_(OptionsOf(model.config(), model.shape(), max_batch, dtype, num_threads)) {
  if (!EncodesInPacked(model.config())) {
    encoder_ = std::make_unique<packed::LatentModel>(
        EncoderOptions(model.config(), model.shape(), max_batch, num_threads));
  }
  PackedStep::OnWeightsChanged();
  arrays_.contexts = buffers_.contexts.tokens.const_data_ptr<float>();
  arrays_.lengths = buffers_.contexts.lengths.const_data_ptr<int64_t>();
  const bool is_box = model.shape().action_dim > 0;
  arrays_.actions = is_box ? nullptr : buffers_.actions.const_data_ptr<int64_t>();
  arrays_.action_values = is_box ? buffers_.actions.const_data_ptr<float>() : nullptr;
  arrays_.rewards = buffers_.rewards.mutable_data_ptr<float>();
  arrays_.values = buffers_.values.mutable_data_ptr<float>();
  arrays_.prior_logits = buffers_.prior_logits.mutable_data_ptr<float>();
  arrays_.tokens = buffers_.tokens.mutable_data_ptr<float>();
}

void PackedStep::OnWeightsChanged() {
  network_.Load(weights_);
  if (encoder_ != nullptr) encoder_->Load(lzero::NetworkWeights(model_));
}

absl::Status PackedStep::Run(int64_t batch_size) { return network_.Step(arrays_, batch_size); }

int64_t PackedStepBytes(const ModelConfig& config, const WorldModelShape& shape, int64_t max_batch,
                        InferenceDtype dtype, int num_threads) {
  const int64_t network =
      packed::PackedNetwork::Bytes(OptionsOf(config, shape, max_batch, dtype, num_threads));
  if (EncodesInPacked(config)) return network;
  return network +
         packed::LatentModel::Bytes(EncoderOptions(config, shape, max_batch, num_threads));
}

}  // namespace lzero
