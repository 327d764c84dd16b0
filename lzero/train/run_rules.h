// What a config must keep to because of the sizes of its environment, of its family, and of this
// machine: every rule between config and environment that env_rules.h does not need to make one.
// (Rules of one field: the schema. Rules between fields: config/consistency.h. Rules of a family:
// ModelFamily::Errors.) Pure functions, but that environments are made.
#ifndef LZERO_TRAIN_RUN_RULES_H_
#define LZERO_TRAIN_RUN_RULES_H_

#include <vector>

#include "lzero/config/assemble.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"
#include "lzero/family/model_family.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {

// What is wrong between the search and the actions of an environment: box actions need samples and
// finite bounds, of discrete ones no more can be sampled than there are.
std::vector<ConsistencyError> ActionErrors(const SearchConfig& search, const EnvSpec& spec);

// Symmetries that the environment does not declare, or declares wrongly; shifts of what is no
// picture: elsewhere a place means something, and a shifted board is another position.
std::vector<ConsistencyError> AugmentErrors(const ReplayConfig& replay, const ReplayShape& shape,
                                            const EnvSpec& spec);

// The family cannot search stored positions again, and the config asks for it.
std::vector<ConsistencyError> ReanalyzeErrors(const ExperimentConfig& config,
                                              const ModelFamily& family);

// All of those, those of the family, a replay that cannot hold its segments, and a stop rule that
// means nothing in this environment.
std::vector<ConsistencyError> SpecErrors(const ExperimentConfig& config, const EnvSpec& spec);

// All that PlanRun would refuse in an environment that can be made, for config reports: EnvErrors,
// SpecErrors, and memory when nothing else is wrong.
std::vector<ConsistencyError> RunErrors(const ExperimentConfig& config,
                                        const EnvRegistry& registry);

// RunErrors as a rule for LoadConfig. `registry` must outlive it.
ConfigRule RunRule(const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_RUN_RULES_H_
