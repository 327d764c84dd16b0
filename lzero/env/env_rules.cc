#include "lzero/env/env_rules.h"

#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/consistency.h"
#include "lzero/config/model/encoder_rules.h"
#include "lzero/config/scalar_text.h"
#include "lzero/env/plugin.h"

namespace lzero {
namespace {

using Errors = std::vector<ConsistencyError>;

// What the environment refuses in settings that it was not made with, each with its own sentence.
Errors OptionErrors(const EnvConfig& config, const EnvRegistry& registry,
                    const absl::Status& refused) {
  // Subsets of the options: own settings, step cap, opening fraction.
  const EnvOptions all = EnvOptionsOf(config);
  EnvOptions own;
  own.board_size = all.board_size;
  own.settings = all.settings;
  own.workers = all.workers;
  EnvOptions cap = own, fraction = own;
  cap.max_episode_steps = all.max_episode_steps;
  fraction.random_opening_fraction = all.random_opening_fraction;
  std::vector<std::string> own_keys = {"env.id"};
  if (!all.settings.empty()) {
    own_keys.insert(own_keys.begin(), "env.settings");
  } else if (all.board_size != 0) {
    own_keys.insert(own_keys.begin(), "env.board_size");
  }
  // What the worker says, or the registry.
  const auto is_about = [&](const std::string& what) {
    return absl::StartsWith(refused.message(), what) ||
           absl::StrContains(refused.message(), absl::StrCat("': ", what));
  };
  if (is_about("observation")) own_keys.insert(own_keys.begin(), "env.observation");
  if (is_about("wrapper")) own_keys.insert(own_keys.begin(), "env.wrappers");
  // Nothing but own settings: they are to blame.
  if (all.max_episode_steps == 0 && all.random_opening_fraction == 0.0) {
    return {{own_keys, std::string(refused.message())}};
  }
  // Make the environment with each subset; the first that fails is to blame.
  Errors errors;
  const auto check = [&](const EnvOptions& options, const std::vector<std::string>& keys) {
    const absl::Status status = registry.Make(config.id, options).status();
    if (!status.ok()) errors.push_back({keys, std::string(status.message())});
  };
  check(own, own_keys);
  if (!errors.empty()) return errors;
  check(cap, {"env.max_episode_steps", "env.id"});
  check(fraction, {"env.random_opening_fraction", "env.id"});
  if (!errors.empty()) return errors;
  // Each alone is taken: what is left is the number of plies.
  return {{{"env.random_opening_plies", "env.random_opening_fraction", "env.id"},
           std::string(refused.message())}};
}

void CheckSpec(const ExperimentConfig& config, const EnvSpec& spec, Errors* errors) {
  const std::vector<int64_t>& shape = spec.observation.shape;
  const auto misfit = FindEncoderMisfit(config.model.encoder, shape);
  if (misfit.has_value()) {
    errors->push_back({{"model.encoder", "env.id"},
                       absl::StrCat(misfit->needs, "; ", config.env.id, " gives [",
                                    absl::StrJoin(shape, ", "), "]; allowed: ", misfit->allowed)});
  }
}

Errors EnvErrorsIn(const ExperimentConfig& config, const EnvRegistry& registry) {
  const auto entry = registry.Find(config.env.id);
  if (!entry.ok()) return {{{"env.id"}, std::string(entry.status().message())}};
  auto env = registry.Make(config.env.id, EnvOptionsOf(config.env));
  Errors errors;
  if (!env.ok()) {
    // No option would help: no Python, a package is missing, a worker died, a plugin of another id.
    if (!absl::IsInvalidArgument(env.status())) {
      std::vector<std::string> keys = {"env.id"};
      const std::string message(env.status().message());
      if (absl::StrContains(message, "env.python")) keys.insert(keys.begin(), "env.python");
      return {{std::move(keys), message}};
    }
    errors = OptionErrors(config.env, registry, env.status());
    EnvOptions bare;
    bare.workers = EnvOptionsOf(config.env).workers;
    env = registry.Make(config.env.id, bare);
  }
  if (env.ok()) CheckSpec(config, (*env)->spec(), &errors);
  return errors;
}

}  // namespace

EnvOptions EnvOptionsOf(const EnvConfig& config) {
  return {config.max_episode_steps,
          config.random_opening_fraction,
          config.random_opening_plies,
          config.board_size,
          config.settings,
          {config.num_workers, config.max_restarts, config.step_timeout_s, config.python,
           config.python_path, config.wrappers,
           kObservationForms[static_cast<int>(config.observation)]}};
}

absl::StatusOr<EnvRegistry> RegistryWithPlugins(const ExperimentConfig& config,
                                                const EnvRegistry& registry) {
  for (const std::string& path : AbsolutePluginPaths(config.plugins)) {
    // A run keeps them in a list of its config.
    if (!absl::StrContains(path, ",") && IsPrintableUtf8(path)) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": a path that a config cannot hold; allowed: printable, no comma"));
  }
  EnvRegistry all = registry;
  LZ_RETURN_IF_ERROR(LoadPlugins(config.plugins, &all));
  return all;
}

std::vector<ConsistencyError> EnvErrors(const ExperimentConfig& config,
                                        const EnvRegistry& registry) {
  const absl::StatusOr<EnvRegistry> all = RegistryWithPlugins(config, registry);
  if (all.ok()) return EnvErrorsIn(config, *all);
  Errors errors = {{{"plugins"}, std::string(all.status().message())}};
  if (absl::StartsWith(config.env.id, kPluginPrefix)) return errors;  // which cannot be known
  for (ConsistencyError& error : EnvErrorsIn(config, registry)) errors.push_back(std::move(error));
  return errors;
}

std::vector<ConsistencyError> UnreadWorkerSettings(const ExperimentConfig& config,
                                                   const EnvRegistry& registry) {
  const auto entry = registry.Find(config.env.id);
  if (!entry.ok() || (*entry)->group != nullptr) return {};  // unknown, or played by workers
  return UnreadErrors(config,
                      {"env.num_workers", "env.max_restarts", "env.step_timeout_s", "env.python",
                       "env.python_path"},
                      "env.id");
}

ConfigRule EnvRule(const EnvRegistry& registry) {
  return [&registry](const ExperimentConfig& config) {
    Errors errors = EnvErrors(config, registry);
    if (!errors.empty()) return errors;
    return UnreadWorkerSettings(config, registry);
  };
}

}  // namespace lzero
