#include "lzero/inference/packed_latent_engine.h"

#include <utility>

#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

packed::LatentModelOptions Sized(packed::LatentModelOptions model, const EngineOptions& options) {
  model.max_rows = options.num_envs;
  model.num_threads = options.inference.threads();
  return model;
}

}  // namespace

PackedLatentEngine::PackedLatentEngine(const EngineOptions& options,
                                       packed::LatentModelOptions model)
    : PolicyEngine(options),
      model_(Sized(std::move(model), options)),
      latents_(options.num_envs * nodes_per_root() * model_.latent_size()) {
  from_.reserve(static_cast<size_t>(options.num_envs));
  to_.reserve(static_cast<size_t>(options.num_envs));
}

int64_t PackedLatentEngine::Bytes(const EngineOptions& options,
                                  const packed::LatentModelOptions& model) {
  const int64_t latents = options.search.NodesPerRoot() * packed::LatentModel::LatentSize(model);
  return packed::LatentModel::Bytes(Sized(model, options)) +
         options.num_envs * (latents + options.shape.observation_size()) *
             static_cast<int64_t>(sizeof(float)) +
         SamplerBytes(options);
}

absl::Status PackedLatentEngine::CopyWeightsFrom(const packed::WeightSource& source) {
  LZ_RETURN_IF_ERROR(source.Prepare());
  model_.Load(source);
  return absl::OkStatus();
}

void PackedLatentEngine::EncodeRoots(absl::Span<const Root> roots,
                                     absl::Span<const packed::Reading> readings) {
  const size_t size = static_cast<size_t>(options().shape.observation_size());
  host_observations_.clear();
  ClearRows();
  for (size_t row = 0; row < roots.size(); ++row) {
    const absl::Span<const float> all = roots[row].observations;
    LZ_CHECK(all.size() >= size, all.size(), " numbers of ", size);
    const absl::Span<const float> newest = all.last(size);
    host_observations_.insert(host_observations_.end(), newest.begin(), newest.end());
    AddRow(row, kRootNode, kRootNode);
  }
  model_.Encode(host_observations_.data(), static_cast<int64_t>(roots.size()), to_.data(),
                readings);
}

void PackedLatentEngine::ClearRows() {
  from_.clear();
  to_.clear();
}

void PackedLatentEngine::AddRow(size_t root, NodeId parent, NodeId child) {
  from_.push_back(LatentOf(root, parent));
  to_.push_back(LatentOf(root, child));
}

void PackedLatentEngine::RunStep(size_t step, const packed::TowerInputs& inputs,
                                 absl::Span<const packed::Reading> readings) {
  model_.Step(step, from_.data(), inputs, static_cast<int64_t>(from_.size()), to_.data(), readings);
}

packed::LatentModelOptions LatentModelParts(const EngineOptions& options) {
  const WorldModelShape& shape = options.shape;
  packed::LatentModelOptions model;
  model.model = options.model;
  model.observation_shape = shape.observation_shape;
  model.has_planes = true;
  model.steps = {{"dynamics", "action_table", shape.action_rows()}};
  const ModelConfig& config = options.model;
  AddScalarHead("reward_head", SupportOf(config.reward_range(), config.support_size), &model);
  AddHead("policy_head", shape.policy_size(), &model);
  if (config.policy_cells) model.heads.back().places = shape.action_places;
  AddScalarHead("value_head", SupportOf(config.value_range(), config.support_size), &model);
  return model;
}

void AddHead(const std::string& module, int64_t out, packed::LatentModelOptions* model) {
  const bool is_vector = model->model.encoder == EncoderKind::kVector;
  model->heads.push_back({is_vector ? module + ".head" : module, out});
}

void AddScalarHead(const std::string& module, const ValueSupport& support,
                   packed::LatentModelOptions* model) {
  AddHead(module, support.size, model);
  model->heads.back().support = support;
}

}  // namespace lzero
