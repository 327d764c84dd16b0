#include "lzero/family/packed/eager_rules.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "lzero/config/schema.h"

namespace lzero {

std::vector<ConsistencyError> EagerFamilyErrors(const ExperimentConfig& config) {
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
  return errors;
}

bool RunsPacked(const InferenceConfig& inference) {
  return inference.device.is_cpu() && inference.runner != Runner::kEager;
}

}  // namespace lzero
