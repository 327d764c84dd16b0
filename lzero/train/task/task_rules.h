// The rules between the tasks of a config: what they share must fit all of them. The rules of one
// task are those of any experiment (train/run_rules.h). No state.
#ifndef LZERO_TRAIN_TASK_TASK_RULES_H_
#define LZERO_TRAIN_TASK_TASK_RULES_H_

#include <vector>

#include "absl/types/span.h"
#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"

namespace lzero {

// What is wrong between `tasks`, as TaskConfigs gives them, and their environments: parts that are
// shared, frozen, adapted or taken from another run and that there are none of; encoders of one
// group that differ. An only task is checked too.
std::vector<ConsistencyError> SharingErrors(absl::Span<const ExperimentConfig> tasks,
                                            absl::Span<const EnvSpec> specs);

// SharingErrors of a config with tasks, each of which can be run alone, and more memory than this
// machine has.
std::vector<ConsistencyError> TasksErrors(const ExperimentConfig& config,
                                          const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_TASK_TASK_RULES_H_
