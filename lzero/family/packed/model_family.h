// What of a run depends on the kind of model and needs no libtorch, as functions: rules, sizes, and
// the engine on packed weights, which plays on the CPU. The network that learns, and engines of
// other devices, are a TensorFamily (lzero/family/tensor_family.h). A family is one folder that
// fills both structs, and a line of LZ_FAMILIES in the config; trainer, learner, collector,
// evaluator and commands are the same for all. Functions without a default must be set. Pure
// functions, any thread.
#ifndef LZERO_FAMILY_PACKED_MODEL_FAMILY_H_
#define LZERO_FAMILY_PACKED_MODEL_FAMILY_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

struct ModelFamily {
  // What is wrong with the model, whatever the environment; every message says what is allowed.
  std::function<std::vector<ConsistencyError>(const ModelConfig& config)> model_errors =
      [](const auto&) { return std::vector<ConsistencyError>(); };
  // The same for what is wrong between config and environment.
  std::function<std::vector<ConsistencyError>(const ExperimentConfig& config, const EnvSpec& spec)>
      errors = [](const auto&, const auto&) { return std::vector<ConsistencyError>(); };
  // Fields that nothing of this family reads: a value other than the default is an error.
  std::function<std::vector<std::string>(const ModelConfig& config)> unread_fields =
      [](const auto&) { return std::vector<std::string>(); };

  // Parts of its networks, by the beginning of their parameters' names up to a dot, that tasks of
  // unlike observations and actions can share; none: it learns one task alone.
  std::vector<std::string> shared_parts = {};
  // The others, likewise.
  std::vector<std::string> own_parts = {};

  // Bytes that a packed engine keeps for good; allocates none of them. Families that simulate with
  // the environment measure one that `make_env` makes.
  std::function<absl::StatusOr<int64_t>(const EngineOptions& options, const EnvFactory& make_env)>
      engine_bytes = {};
  // The saved states of environments among these bytes: they lie on the host, whatever the device.
  std::function<absl::StatusOr<int64_t>(const EngineOptions& options, const EnvFactory& make_env)>
      state_bytes = [](const auto&, const auto&) { return int64_t{0}; };
  std::function<absl::StatusOr<std::unique_ptr<InferenceEngine>>(const EngineOptions& options,
                                                                 const EnvFactory& make_env)>
      make_engine = {};

  // Chance outcomes C that its searches tell apart in this environment; 0: no chance nodes.
  std::function<int(const EnvSpec& spec)> num_chance_outcomes = [](const auto&) { return 0; };
  // Whether what replay stores of a root is enough to search it again (replay.reanalyze_ratio).
  // False where a search needs the state of its environment.
  bool can_reanalyze = true;
  // The most bytes that an update of the learner takes on the way, see update_memory.h. The encoder
  // must fit the observations.
  std::function<int64_t(const ExperimentConfig& config, const WorldModelShape& shape)>
      update_bytes = {};
  // Steps before a root that its engine may read.
  std::function<int64_t(const ModelConfig& config)> num_root_past_steps = [](const auto&) {
    return 0;
  };
  // Whether its network reads all observations of a sample, or the first alone: then later ones are
  // nothing but targets.
  bool reads_sequences = true;
  // The sizes of the model in words: "L 2, H 2, E 64, context 8 tokens".
  std::function<std::string(const ModelConfig& config)> describe = {};
};

}  // namespace lzero

#endif  // LZERO_FAMILY_PACKED_MODEL_FAMILY_H_
