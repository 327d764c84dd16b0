#include "lzero/train/unizero_family.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/inference/root_runner.h"
#include "lzero/inference/unizero_inference.h"
#include "lzero/world_model/model_size.h"
#include "lzero/world_model/update_memory.h"
#include "lzero/world_model/world_model.h"

namespace lzero {

std::vector<ConsistencyError> UniZeroFamily::ModelErrors(const ModelConfig& config) const {
  return UniZeroModelErrors(config);
}

std::vector<std::string> UniZeroFamily::UnreadFields(const ModelConfig& /*config*/) const {
  return {"loss.chance_weight"};
}

absl::StatusOr<int64_t> UniZeroFamily::CountParameters(const ModelConfig& config,
                                                       const WorldModelShape& shape) const {
  return lzero::CountParameters(config, shape);
}

absl::StatusOr<std::shared_ptr<Network>> UniZeroFamily::MakeNetwork(const ModelConfig& config,
                                                                    const WorldModelShape& shape,
                                                                    uint64_t seed,
                                                                    at::Device device) const {
  return WorldModel::Create(config, shape, seed, device);
}

absl::StatusOr<int64_t> UniZeroFamily::EngineBytes(const EngineOptions& options,
                                                   const EnvFactory& /*make_env*/) const {
  return UniZeroInference::PlannedBytes(options);
}

absl::StatusOr<std::unique_ptr<InferenceEngine>> UniZeroFamily::MakeEngine(
    const EngineOptions& options, const EnvFactory& /*make_env*/) const {
  return UniZeroInference::Create(options);
}

int64_t UniZeroFamily::UpdateBytes(const ExperimentConfig& config,
                                   const WorldModelShape& shape) const {
  return UniZeroUpdateBytes(config, shape);
}

int64_t UniZeroFamily::NumRootPastSteps(const ModelConfig& config) const {
  return lzero::NumRootPastSteps(config);
}

std::string UniZeroFamily::Describe(const ModelConfig& config) const {
  return absl::StrCat("L ", config.num_layers, ", H ", config.num_heads, ", E ", config.embed_dim,
                      ", context ", config.context_length, " tokens");
}

}  // namespace lzero
