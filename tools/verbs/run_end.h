// How a training run is run to its end and what is said of it then: for `train` and `resume`. The
// summary goes to stdout, errors to stderr.
#ifndef LZERO_TOOLS_VERBS_RUN_END_H_
#define LZERO_TOOLS_VERBS_RUN_END_H_

#include <optional>
#include <string>

#include "lzero/config/experiment_config.h"
#include "lzero/env/env_registry.h"
#include "lzero/run/training_state.h"
#include "lzero/train/trainer.h"

namespace lzero {

// A run folder, its config and what its end is told with.
struct Session {
  std::string run_dir;  // as the user typed it
  const ExperimentConfig& config;
  bool can_be_graded = false;
  std::optional<TrainingState> start = std::nullopt;  // of a resumed run
};

// Whether moves of the only task can be judged.
bool CanBeGraded(const ExperimentConfig& config, const EnvRegistry& registry);

// Whether the run was killed before its first checkpoint.
bool IsNeverSaved(const std::string& run_dir);

// Blocks until the run has ended; returns the exit code of the program.
int RunToEnd(Trainer& trainer, const Session& session);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_RUN_END_H_
