// Why a run ended without what its stop rule asks for, and how it would go on: lines printed at
// the end of `train` and `resume`. Pure functions.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_STOP_REPORT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_STOP_REPORT_H_

#include <string>

#include "lzero/config/experiment_config.h"
#include "lzero/run/training_state.h"

namespace lzero {

// "target 195, best 143.20" when the target return was not reached; "" when there is none, or it
// was.
std::string NotSolvedText(const StopConfig& stop, const TrainingState& state);

// Why a run that came to its end made not one update; "" when it made some.
std::string NothingLearnedText(const TrainConfig& train, const TrainingState& state);

// Every part of the stop rule that `state` has met, and the command that goes on all the same:
// "stop.max_env_steps=400 is reached (400 are done); go on with:  COMMAND stop.max_env_steps=800".
// "" when no part is met. `command` resumes the run.
std::string MetStopRuleText(const StopConfig& stop, const TrainingState& state,
                            const std::string& command);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_STOP_REPORT_H_
