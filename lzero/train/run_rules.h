// The rules that a config must keep because of the sizes of its environment, its family, and this
// machine. The rules that let an environment be made at all are in env/env_rules.h. (Rules of one
// field: the schema. Rules between fields: config/consistency.h. Rules of a family:
// ModelFamily::errors and model_errors.) No state; some of the functions make an environment.
#ifndef LZERO_TRAIN_RUN_RULES_H_
#define LZERO_TRAIN_RUN_RULES_H_

#include <vector>

#include "lzero/config/assemble.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"
#include "lzero/family/packed/model_family.h"
#include "lzero/replay/replay_plan.h"

namespace lzero {

// Symmetries that the environment does not declare, or declares wrongly; shifts of observations
// that are not pictures (a shifted board is another position).
std::vector<ConsistencyError> AugmentErrors(const ReplayConfig& replay, const ReplayShape& shape,
                                            const EnvSpec& spec);

// The config asks to search stored positions again, and the family cannot.
std::vector<ConsistencyError> ReanalyzeErrors(const ExperimentConfig& config,
                                              const ModelFamily& family);

// A score with one end, or none between them, or of moves that nothing can grade.
std::vector<ConsistencyError> ScoreErrors(const ExperimentConfig& config,
                                          const EnvRegistry& registry);

// Threads beyond the `cores` of a machine.
std::vector<ConsistencyError> ThreadErrors(const ExperimentConfig& config, int cores);

// All errors above but those of threads, PlayErrors, a replay that cannot hold its segments, and a
// stop rule that means nothing in this environment.
std::vector<ConsistencyError> SpecErrors(const ExperimentConfig& config, const EnvSpec& spec);

// All that PlanRun would refuse in an environment that can be made, for config reports: EnvErrors,
// SpecErrors, ThreadErrors on this machine, and memory when nothing else is wrong. A config with
// tasks, which are asked for one by one as well, has what is wrong between them.
std::vector<ConsistencyError> RunErrors(const ExperimentConfig& config,
                                        const EnvRegistry& registry);

// RunErrors as a rule for LoadConfig. `registry` must outlive it.
ConfigRule RunRule(const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_RUN_RULES_H_
