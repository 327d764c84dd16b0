#include "lzero/train/stochastic_muzero_family.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/inference/stochastic_muzero_inference.h"
#include "lzero/world_model/stochastic_muzero_network.h"

namespace lzero {

std::vector<ConsistencyError> StochasticMuZeroFamily::Errors(const ExperimentConfig& config,
                                                             const EnvSpec& spec) const {
  std::vector<ConsistencyError> errors = MuZeroFamily::Errors(config, spec);
  if (spec.num_chance_outcomes == 0) {
    errors.push_back({{"model.family", "env.id"},
                      absl::StrCat("stochastic_muzero needs an environment that tells which chance "
                                   "outcome came; ",
                                   spec.id, " tells none; allowed: another family, or 2048")});
  }
  if (config.search.num_sampled_actions.has_value()) {
    errors.push_back({{"search.num_sampled_actions", "model.family"},
                      absl::StrCat("stochastic_muzero searches all actions of a node; got ",
                                   *config.search.num_sampled_actions, "; allowed: null")});
  }
  return errors;
}

std::vector<std::string> StochasticMuZeroFamily::UnreadFields(const ModelConfig& config) const {
  std::vector<std::string> fields = MuZeroFamily::UnreadFields(config);
  fields.erase(std::remove(fields.begin(), fields.end(), "loss.chance_weight"), fields.end());
  return fields;
}

absl::StatusOr<int64_t> StochasticMuZeroFamily::CountParameters(
    const ModelConfig& config, const WorldModelShape& shape) const {
  return StochasticMuZeroNetwork::CountParameters(config, shape);
}

absl::StatusOr<std::shared_ptr<Network>> StochasticMuZeroFamily::MakeNetwork(
    const ModelConfig& config, const WorldModelShape& shape, uint64_t seed,
    at::Device device) const {
  return StochasticMuZeroNetwork::Create(config, shape, seed, device);
}

absl::StatusOr<int64_t> StochasticMuZeroFamily::EngineBytes(const EngineOptions& options,
                                                            const EnvFactory& /*make_env*/) const {
  return StochasticMuZeroInference::PlannedBytes(options);
}

absl::StatusOr<std::unique_ptr<InferenceEngine>> StochasticMuZeroFamily::MakeEngine(
    const EngineOptions& options, const EnvFactory& /*make_env*/) const {
  return StochasticMuZeroInference::Create(options);
}

std::string StochasticMuZeroFamily::Describe(const ModelConfig& config) const {
  return absl::StrCat("stochastic ", MuZeroFamily::Describe(config));
}

}  // namespace lzero
