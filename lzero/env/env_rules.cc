#include "lzero/env/env_rules.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/config/encoder_rules.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

// The settings whose values the environment refuses, each with its own sentence.
void CheckOptions(const EnvConfig& config, const EnvRegistry::Factory& factory, Errors* errors) {
  const EnvOptions all = EnvOptionsOf(config);
  EnvOptions cap, fraction;
  cap.max_episode_steps = all.max_episode_steps;
  fraction.random_opening_fraction = all.random_opening_fraction;
  const size_t num_before = errors->size();
  const auto check = [&](const EnvOptions& options, std::vector<std::string> keys) {
    const absl::Status status = factory(options).status();
    if (status.ok()) return;
    keys.push_back("env.id");
    errors->push_back({std::move(keys), std::string(status.message())});
  };
  check(cap, {"env.max_episode_steps"});
  check(fraction, {"env.random_opening_fraction"});
  if (errors->size() > num_before) return;
  // Each alone is taken: what is left is the number of plies.
  check(all, {"env.random_opening_plies", "env.random_opening_fraction"});
}

void CheckSpec(const ExperimentConfig& config, const EnvSpec& spec, Errors* errors) {
  if (spec.action.kind != ActionKind::kDiscrete) {
    errors->push_back({{"env.id"},
                       absl::StrCat(config.env.id,
                                    " has box actions; this version trains discrete "
                                    "actions only")});
  }
  const std::vector<int64_t>& shape = spec.observation.shape;
  const auto misfit = FindEncoderMisfit(config.model.encoder, shape);
  if (misfit.has_value()) {
    errors->push_back({{"model.encoder", "env.id"},
                       absl::StrCat(misfit->needs, "; ", config.env.id, " gives [",
                                    absl::StrJoin(shape, ", "), "]; allowed: ", misfit->allowed)});
  }
}

}  // namespace

EnvOptions EnvOptionsOf(const EnvConfig& config) {
  EnvOptions options;
  options.max_episode_steps = config.max_episode_steps;
  options.random_opening_fraction = config.random_opening_fraction;
  options.random_opening_plies = config.random_opening_plies;
  return options;
}

std::vector<ConsistencyError> EnvErrors(const ExperimentConfig& config,
                                        const EnvRegistry& registry) {
  const auto entry = registry.Find(config.env.id);
  if (!entry.ok()) return {{{"env.id"}, std::string(entry.status().message())}};
  const auto env = registry.Make(config.env.id, EnvOptions());
  if (!env.ok()) return {{{"env.id"}, std::string(env.status().message())}};
  Errors errors;
  CheckOptions(config.env, (*entry)->factory, &errors);
  CheckSpec(config, (*env)->spec(), &errors);
  return errors;
}

ConfigRule EnvRule(const EnvRegistry& registry) {
  return [&registry](const ExperimentConfig& config) { return EnvErrors(config, registry); };
}

}  // namespace lzero
