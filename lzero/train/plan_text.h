// What a run will do and take, in words. No state; asks devices for their memory.
#ifndef LZERO_TRAIN_PLAN_TEXT_H_
#define LZERO_TRAIN_PLAN_TEXT_H_

#include <string>
#include <string_view>

#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/train/run_plan.h"

namespace lzero {

// The parts of the memory of this machine, each with its size.
std::string PartsText(const MemoryPlan& plan);

// The plan in words, one fact a line: environment, model, search, when it stops, memory of this
// machine and of devices; `detailed`: also the ratio of updates, replay, parts of the memory.
// Where there are several tasks, what each has of its own is a line.
// `runner` is the name of the recurrent step that was chosen.
std::string DescribePlan(const ExperimentConfig& config, const RunPlan& plan,
                         std::string_view runner, bool detailed);

// The same in detail for a run that cannot start here, as where a device is missing; "" where it
// has no plan.
std::string PlanTextOf(const ExperimentConfig& config, const EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_TRAIN_PLAN_TEXT_H_
