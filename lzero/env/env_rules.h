// What a config must keep to because of its environment: plugins that load, a known id, settings
// that the environment takes, an encoder that fits its observations. The config floor knows no
// environments; loading takes these rules as its extra rule. Rules between sizes of the config and
// of the environment are in train/run_rules.h. Thread-safe: no state.
#ifndef LZERO_ENV_ENV_RULES_H_
#define LZERO_ENV_ENV_RULES_H_

#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/assemble.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// The settings of the config's env section that environments take.
EnvOptions EnvOptionsOf(const EnvConfig& config);

// `registry` and what the config's plugins add to it. Errors as LoadPlugins.
absl::StatusOr<EnvRegistry> RegistryWithPlugins(const ExperimentConfig& config,
                                                const EnvRegistry& registry);

// All broken rules of `config`; its plugins are added to `registry` first; empty when its
// environment can be made and encoded.
std::vector<ConsistencyError> EnvErrors(const ExperimentConfig& config,
                                        const EnvRegistry& registry);

// Settings of worker processes beside an environment that plays in this one. `registry` holds what
// plugins add.
std::vector<ConsistencyError> UnreadWorkerSettings(const ExperimentConfig& config,
                                                   const EnvRegistry& registry);

// EnvErrors, then UnreadWorkerSettings, as a rule for LoadConfig. `registry` must outlive it.
ConfigRule EnvRule(const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_ENV_ENV_RULES_H_
