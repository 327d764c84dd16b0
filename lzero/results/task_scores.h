// How well runs do their tasks, one or several each: what the last evaluation measured, its
// normalised score, the steps to the target; of all runs together, and of some against others.
// ReadTaskResults blocks on the disk, the rest is arithmetic.
#ifndef LZERO_RESULTS_TASK_SCORES_H_
#define LZERO_RESULTS_TASK_SCORES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/results/group_summary.h"
#include "lzero/results/run_record.h"

namespace lzero {

struct TaskResult {
  std::string task;       // its name; of a config without tasks the environment
  double measured = 0.0;  // mean return, or share of optimal moves
  std::optional<double> score;
  bool has_target = false;
  std::optional<int64_t> solved_env_steps;  // its own; nullopt: never
  ScoreConfig scale;                        // of `score`
};

// The tasks of a run that was evaluated. NotFound without an evaluation, and where a run of several
// tasks, or of grades, has no checkpoint; others may have lost theirs.
absl::StatusOr<std::vector<TaskResult>> ReadTaskResults(const RunRecord& run);

// One task over runs.
struct TaskSummary {
  std::string task;
  std::vector<double> measured;
  ScoreConfig scale;           // of the runs that have one
  std::vector<double> scores;  // not bounded; of these runs
  bool has_target = false;
  std::vector<std::optional<int64_t>> solved_env_steps;
};

struct ScoreSummary {
  std::vector<TaskSummary> tasks;  // by name
  // Over tasks and runs, scores bounded by 0 and 1.2; intervals from 5 tasks on, of which the
  // tasks, then their runs, are resampled.
  std::optional<Estimate> mean, median, iqm;
  std::optional<double> worst;  // lowest mean of a task
};

ScoreSummary SummarizeScores(absl::Span<const TaskResult> results);

// A task of `a` against the same one of `b`: mean score / mean score, where that is above 0, and
// median steps to the target / median steps: infinite where only `b` ever reaches it.
struct TaskRatio {
  std::string task;
  std::optional<double> score, steps;
};
std::vector<TaskRatio> CompareScores(const ScoreSummary& a, const ScoreSummary& b);

}  // namespace lzero

#endif  // LZERO_RESULTS_TASK_SCORES_H_
