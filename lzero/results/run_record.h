// What a run folder tells without its metrics and weights: who made it, how it stands, what its
// evaluations gave. A reader beside a training run: nothing is written or locked for longer than a
// moment. Blocks on the disk; thread-safe.
#ifndef LZERO_RESULTS_RUN_RECORD_H_
#define LZERO_RESULTS_RUN_RECORD_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/run/evaluation_files.h"

namespace lzero {

struct RunRecord {
  std::string path;
  // manifest.json
  std::string name;  // of the config
  std::string version;
  std::string git_commit;  // may be ""
  std::string start_time;
  std::vector<std::string> command_line;
  // config.resolved.yaml
  ExperimentConfig config;
  // status.json
  std::string state;  // running, finished, interrupted, failed; stopped: its process is gone
  std::string message;
  int64_t env_steps = 0;
  // eval/, by env steps
  std::vector<EvaluationSummary> evaluations;
  // state.json of the latest checkpoint, and metrics.jsonl where it is newer
  double wall_seconds = 0.0;
  std::optional<double> solved_wall_seconds;
  bool is_self_play = false;  // its return is that of player 0, and no measure of strength
};

// Whether `path` is a run folder: it has a manifest.
bool IsRunFolder(const std::string& path);

// The run folders in `root`, at any depth, in natural order; `root` itself if it is one. Links to
// folders are not followed. NotFound when there is no such folder.
absl::StatusOr<std::vector<std::string>> FindRuns(const std::string& root);

// NotFound or DataLoss names the file that is missing or damaged.
absl::StatusOr<RunRecord> ReadRun(const std::string& path);

// Every setting in force as YAML, without the seed: equal for the runs of one experiment.
std::string ConfigWithoutSeed(const ExperimentConfig& config);

// What has to be equal for returns to have one scale: "cartpole", "go board_size=5".
std::string EnvironmentOf(const ExperimentConfig& config);

// The mean return at which the runs of a config are solved; nullopt: none, or another measure.
std::optional<double> TargetOf(const ExperimentConfig& config);

// Scores of a run with at least one evaluation: mean return of its last and of its best one.
double FinalReturn(const RunRecord& run);
double BestReturn(const RunRecord& run);

// Env steps of the evaluation that was the `patience`-th in a row with a mean return of at least
// `target`; nullopt when there is none.
std::optional<int64_t> StepsToTarget(const RunRecord& run, double target, int64_t patience);

}  // namespace lzero

#endif  // LZERO_RESULTS_RUN_RECORD_H_
