#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/config/consistency.h"
#include "lzero/family/packed/families.h"
#include "lzero/family/packed/latent_family.h"
#include "lzero/family/stochastic_muzero/packed/packed_stochastic_muzero.h"

namespace lzero {
namespace {

std::vector<ConsistencyError> StochasticErrors(const ExperimentConfig& config,
                                               const EnvSpec& spec) {
  std::vector<ConsistencyError> errors = LatentFamily().errors(config, spec);
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

std::vector<std::string> StochasticUnreadFields(const ModelConfig& config) {
  std::vector<std::string> fields = LatentFamily().unread_fields(config);
  fields.erase(std::remove(fields.begin(), fields.end(), "loss.chance_weight"), fields.end());
  return fields;
}

}  // namespace

const ModelFamily& StochasticMuZeroFamily() {
  static const ModelFamily kFamily = [] {
    ModelFamily family = LatentFamily();
    family.errors = StochasticErrors;
    family.unread_fields = StochasticUnreadFields;
    family.engine_bytes = [](const auto& options, auto&) {
      return PackedStochasticMuZeroBytes(options);
    };
    family.make_engine = [](const auto& options, auto&) {
      return MakePackedStochasticMuZero(options);
    };
    family.num_chance_outcomes = [](const EnvSpec& spec) { return spec.num_chance_outcomes; };
    family.describe = [](const ModelConfig& config) {
      return absl::StrCat("stochastic ", LatentFamily().describe(config));
    };
    return family;
  }();
  return kFamily;
}

}  // namespace lzero
