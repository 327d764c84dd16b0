// The seam behind which model families differ: what a run makes of its config that depends on the
// kind of model. A family is one folder with a class derived from ModelFamily, and a line in
// train/model_families.cc; trainer, learner, collector, evaluator and commands are the same for
// all. Objects live as long as the program; const, any thread.
#ifndef LZERO_FAMILY_MODEL_FAMILY_H_
#define LZERO_FAMILY_MODEL_FAMILY_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "ATen/core/Tensor.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/model/network.h"

namespace lzero {

class ModelFamily {
 public:
  virtual ~ModelFamily() = default;

  // What is wrong with the model, whatever the environment; every message says what is allowed.
  virtual std::vector<ConsistencyError> ModelErrors(const ModelConfig& /*config*/) const {
    return {};
  }
  // The same of what is wrong between config and environment for this family.
  virtual std::vector<ConsistencyError> Errors(const ExperimentConfig& /*config*/,
                                               const EnvSpec& /*spec*/) const {
    return {};
  }

  // Fields that nothing of this family reads: a value other than the default is an error.
  virtual std::vector<std::string> UnreadFields(const ModelConfig& /*config*/) const { return {}; }

  // Numbers to train in one copy of the network; nothing is allocated. InvalidArgument when the
  // encoder does not fit the observations.
  virtual absl::StatusOr<int64_t> CountParameters(const ModelConfig& config,
                                                  const WorldModelShape& shape) const = 0;
  // A network of fresh float32 weights on `device`, a function of `seed` alone. Errors as
  // CountParameters; ResourceExhausted when the memory is not there.
  virtual absl::StatusOr<std::shared_ptr<Network>> MakeNetwork(const ModelConfig& config,
                                                               const WorldModelShape& shape,
                                                               uint64_t seed,
                                                               at::Device device) const = 0;

  // Bytes that an engine keeps for good. Nothing of it is allocated. `make_env` makes one
  // environment of the run, for families that simulate with it: what it makes is measured.
  virtual absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options,
                                              const EnvFactory& make_env) const = 0;
  virtual absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(
      const EngineOptions& options, const EnvFactory& make_env) const = 0;

  // Chance outcomes C that its searches tell apart in this environment; 0: no chance nodes.
  virtual int NumChanceOutcomes(const EnvSpec& /*spec*/) const { return 0; }
  // Whether a root can be searched from what replay stores of it, which its engine needs for
  // replay.reanalyze_ratio; not where a search needs the state of its environment.
  virtual bool CanReanalyze() const { return true; }
  // What an update of the learner takes on the way, at most: see update_memory.h. The encoder fits.
  virtual int64_t UpdateBytes(const ExperimentConfig& config,
                              const WorldModelShape& shape) const = 0;
  // Steps before a root that its engine may read.
  virtual int64_t NumRootPastSteps(const ModelConfig& config) const = 0;
  // The sizes of the model in words: "L 2, H 2, E 64, context 8 tokens".
  virtual std::string Describe(const ModelConfig& config) const = 0;
};

}  // namespace lzero

#endif  // LZERO_FAMILY_MODEL_FAMILY_H_
