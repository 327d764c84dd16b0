// The counters of a run: what state.json of a checkpoint holds beside weights and replay. Plain
// data.
#ifndef LZERO_RUN_TRAINING_STATE_H_
#define LZERO_RUN_TRAINING_STATE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/base/rng.h"

namespace lzero {

// Counters of one task.
struct TaskState {
  std::string name;
  int64_t env_steps = 0;
  int64_t tail_steps = 0;  // env steps that were not made any more, of train.tail_updates
  int64_t updates = 0;     // that it took part in
  int64_t episodes = 0;
  std::optional<double> last_return;  // mean of the last evaluation
  std::optional<double> best_return;  // best mean of an evaluation; self-play has none
  std::optional<double> last_score;   // normalised, of the last evaluation of one of several tasks
  std::optional<double> target_return;      // stop.target_return, which the next three are about
  int64_t target_streak = 0;                // evaluations in a row at target_return or more
  std::optional<int64_t> solved_env_steps;  // when the streak first reached stop.patience
  std::optional<double> solved_wall_seconds;
  RandomStream::State sampler;
  RandomStream::State reanalyzer;   // draws the positions that are searched again
  int64_t reanalyzed = 0;           // such positions
  uint64_t reanalyze_searches = 0;  // batches of them
  double reanalyses_due = 0.0;      // positions, by replay.fresh_share
};

// In a run with several tasks, env steps and episodes are sums over them, returns are mean
// normalised scores, and it is solved when all of them are.
struct TrainingState {
  int64_t env_steps = 0;
  int64_t updates = 0;
  int64_t episodes = 0;
  int64_t evaluations = 0;                       // that were due
  double wall_seconds = 0.0;                     // over all sessions of the run
  std::optional<double> last_return;             // mean of the last evaluation
  std::optional<int64_t> last_return_env_steps;  // when that was measured
  std::optional<double> best_return;             // best mean of an evaluation; self-play has none
  std::optional<int64_t> best_env_steps;         // of the checkpoint that `best` points at
  int64_t target_streak = 0;                     // of the only task; of several none
  std::optional<int64_t> solved_env_steps;       // when the run was solved
  std::optional<double> solved_wall_seconds;
  int64_t last_evaluation_update = -1;
  int64_t next_metrics_update = 0;  // write metrics when so many updates are made
  int64_t next_evaluation_update = 0;
  int64_t next_checkpoint_update = 0;
  int64_t metrics_bytes = 0;                     // length of metrics.jsonl at the checkpoint
  std::vector<TaskState> tasks = {TaskState()};  // by name
};

// JSON of one object, keys as the field names; the fields of an only task among those of the run,
// of several an object each under "tasks".
std::string TrainingStateToJson(const TrainingState& state);
// InvalidArgument naming the field that is missing or has the wrong type.
absl::StatusOr<TrainingState> TrainingStateFromJson(const std::string& json);

}  // namespace lzero

#endif  // LZERO_RUN_TRAINING_STATE_H_
