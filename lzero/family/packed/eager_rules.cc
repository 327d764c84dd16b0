#include "lzero/family/packed/eager_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/config/schema.h"
#include "lzero/packed/latent_model.h"

namespace lzero {

std::vector<ConsistencyError> EagerFamilyErrors(const ExperimentConfig& config,
                                                const EnvSpec& spec) {
  std::vector<ConsistencyError> errors;
  const std::string family = "family " + ValueText(config, "model.family");
  const auto require = [&](bool holds, const char* key, const char* has, const char* allowed) {
    Require(holds, &errors, {key, "model.family"}, family, has, "; got ", ValueText(config, key),
            "; allowed: ", allowed, ", or family unizero");
  };
  const InferenceConfig& inference = config.inference;
  require(inference.runner != Runner::kCudaGraph && inference.runner != Runner::kCudaSearchGraph,
          "inference.runner", " records no graphs", "auto, eager, packed");
  require(inference.graphs != Graphs::kRequired, "inference.graphs", " records no graphs",
          "preferred, off");
  require(inference.dtype == InferenceDtype::kFp32, "inference.dtype", " has fp32 alone", "fp32");
  require(config.replay.num_context_steps == 0, "replay.num_context_steps",
          " sees one observation and none before it", "0");
  if (config.model.policy_cells && config.model.encoder != EncoderKind::kBoard) {
    errors.push_back(
        {{"model.policy_cells", "model.encoder"},
         absl::StrCat("reads the cells of a board; got encoder ",
                      ValueText(config, "model.encoder"), "; allowed: encoder board, or false")});
  } else if (config.model.policy_cells && spec.action.places.empty()) {
    errors.push_back({{"model.policy_cells", "env.id"},
                      absl::StrCat("actions of ", spec.id,
                                   " have no cells; got true; allowed: false, or a game whose "
                                   "actions have, as chess and go")});
  }
  return errors;
}

void RequireWholeGroups(const ExperimentConfig& config, const EnvSpec& spec, bool has_planes,
                        std::vector<ConsistencyError>* errors) {
  if (config.model.latent_norm != LatentNorm::kSimNorm ||
      !CheckEncoder(config.model, spec.observation.shape).ok()) {
    return;
  }
  const int64_t group = config.model.sim_norm_group;
  const int64_t size = packed::LatentModel::LatentSize({.model = config.model,
                                                        .observation_shape = spec.observation.shape,
                                                        .has_planes = has_planes});
  Require(size % group == 0, errors, {"model.sim_norm_group", "model.encoder_channels"},
          absl::StrCat("must divide the latent state of ", size, " numbers; got ", group));
}

bool RunsPacked(const InferenceConfig& inference) {
  return inference.device.is_cpu() && inference.runner != Runner::kEager;
}

}  // namespace lzero
