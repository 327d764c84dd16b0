#include "lzero/family/stochastic_muzero/stochastic_muzero_family.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/config/consistency.h"
#include "lzero/family/latent_family.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_inference.h"
#include "lzero/family/stochastic_muzero/stochastic_muzero_network.h"

namespace lzero {
namespace {

class StochasticMuZeroFamilyImplementation : public LatentFamily {
 public:
  std::vector<ConsistencyError> Errors(const ExperimentConfig& config,
                                       const EnvSpec& spec) const override {
    std::vector<ConsistencyError> errors = LatentFamily::Errors(config, spec);
    Require(spec.num_chance_outcomes > 0, &errors, {"model.family", "env.id"},
            absl::StrCat("stochastic_muzero needs an environment that tells which chance outcome "
                         "came; ",
                         spec.id, " tells none; allowed: another family, or 2048"));
    Require(!config.search.num_sampled_actions.has_value(), &errors,
            {"search.num_sampled_actions", "model.family"},
            absl::StrCat("stochastic_muzero searches all actions of a node; got ",
                         config.search.num_sampled_actions.value_or(0), "; allowed: null"));
    return errors;
  }
  std::vector<std::string> UnreadFields(const ModelConfig& config) const override {
    std::vector<std::string> fields = LatentFamily::UnreadFields(config);
    fields.erase(std::remove(fields.begin(), fields.end(), "loss.chance_weight"), fields.end());
    return fields;
  }
  absl::StatusOr<int64_t> CountParameters(const ModelConfig& config,
                                          const WorldModelShape& shape) const override {
    return StochasticMuZeroNetwork::CountParameters(config, shape);
  }
  absl::StatusOr<std::shared_ptr<Network>> MakeNetwork(const ModelConfig& config,
                                                       const WorldModelShape& shape, uint64_t seed,
                                                       at::Device device) const override {
    return StochasticMuZeroNetwork::Create(config, shape, seed, device);
  }
  absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options,
                                      const EnvFactory& /*make_env*/) const override {
    return StochasticMuZeroInference::PlannedBytes(options);
  }
  absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(
      const EngineOptions& options, const EnvFactory& /*make_env*/) const override {
    return StochasticMuZeroInference::Create(options);
  }
  int NumChanceOutcomes(const EnvSpec& spec) const override { return spec.num_chance_outcomes; }
  std::string Describe(const ModelConfig& config) const override {
    return absl::StrCat("stochastic ", LatentFamily::Describe(config));
  }
};

}  // namespace

const ModelFamily& StochasticMuZeroFamily() {
  static const StochasticMuZeroFamilyImplementation family;
  return family;
}

}  // namespace lzero
