#include "lzero/results/task_scores.h"

#include <algorithm>
#include <limits>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/results/metrics_reader.h"
#include "lzero/run/checkpoint_store.h"
#include "lzero/run/training_state.h"
#include "lzero/statistics/bootstrap.h"

namespace lzero {
namespace {

constexpr double kTaskConfidence = 0.95;
constexpr int kTaskResamples = 2000;
constexpr size_t kFewestTasksForInterval = 5;

Strata BoundedScores(absl::Span<const TaskSummary> tasks) {
  Strata strata;
  for (const TaskSummary& task : tasks) {
    if (task.scores.empty()) continue;
    strata.emplace_back();
    for (const double score : task.scores) {
      strata.back().push_back(BoundedScore(score));
    }
  }
  return strata;
}

Estimate EstimateOf(const Strata& strata, const StrataStatistic& statistic) {
  Estimate estimate = {statistic(strata), std::nullopt};
  if (strata.size() < kFewestTasksForInterval) return estimate;
  RandomStream random(0, "task_scores");
  estimate.interval = NestedInterval(strata, statistic, kTaskConfidence, kTaskResamples, random);
  return estimate;
}

// When each task was solved; nullopt: never.
absl::StatusOr<std::vector<std::optional<int64_t>>> ReadSolvedSteps(
    const RunRecord& run, absl::Span<const ExperimentConfig> tasks) {
  const auto checkpoint = FindCheckpoint(run.path);
  const bool is_return = tasks[0].score.measure == ScoreMeasure::kReturn;
  if (absl::IsNotFound(checkpoint.status()) && tasks.size() == 1 && is_return) {
    const std::optional<double> target = TargetOf(run.config);
    if (!target.has_value()) return {{std::nullopt}};
    return {{StepsToTarget(run, *target, tasks[0].stop.patience)}};
  }
  LZ_RETURN_IF_ERROR(checkpoint.status());
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(JoinPath(*checkpoint, "state.json")));
  LZ_ASSIGN_OR_RETURN(const TrainingState state, TrainingStateFromJson(text));
  if (state.tasks.size() != tasks.size()) {
    return absl::DataLossError(absl::StrCat(*checkpoint, ": not a checkpoint of this config"));
  }
  std::vector<std::optional<int64_t>> solved;
  for (const TaskState& task : state.tasks) solved.push_back(task.solved_env_steps);
  return solved;
}

}  // namespace

absl::StatusOr<std::vector<TaskResult>> ReadTaskResults(const RunRecord& run) {
  const std::vector<ExperimentConfig> tasks = TaskConfigs(run.config);
  LZ_ASSIGN_OR_RETURN(const RunMetrics metrics, ReadMetrics(run.path, [](absl::string_view name) {
                        return absl::EndsWith(name, "eval/return_mean") ||
                               absl::EndsWith(name, "eval/grade");
                      }));
  LZ_ASSIGN_OR_RETURN(const auto solved, ReadSolvedSteps(run, tasks));
  std::vector<TaskResult> results;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const std::string prefix = tasks.size() == 1 ? "" : absl::StrCat("task/", tasks[i].name, "/");
    const bool is_grade = tasks[i].score.measure == ScoreMeasure::kGrade;
    const auto found =
        metrics.find(absl::StrCat(prefix, is_grade ? "eval/grade" : "eval/return_mean"));
    if (found == metrics.end() || found->second.values.empty()) {
      return absl::NotFoundError(absl::StrCat(run.path, ": no evaluation"));
    }
    TaskResult result;
    result.task = tasks[i].name.empty() ? tasks[i].env.id : tasks[i].name;
    result.measured = found->second.values.back();
    result.scale = tasks[i].score;
    if (tasks[i].score.is_set()) result.score = tasks[i].score.Normalized(result.measured);
    result.has_target = tasks[i].stop.target_return.has_value();
    result.solved_env_steps = solved[i];
    results.push_back(std::move(result));
  }
  return results;
}

ScoreSummary SummarizeScores(absl::Span<const TaskResult> results) {
  std::map<std::string, TaskSummary> by_name;
  for (const TaskResult& result : results) {
    TaskSummary& task = by_name[result.task];
    task.task = result.task;
    task.measured.push_back(result.measured);
    if (result.score.has_value()) {
      task.scores.push_back(*result.score);
      task.scale = result.scale;
    }
    task.has_target = task.has_target || result.has_target;
    task.solved_env_steps.push_back(result.solved_env_steps);
  }
  ScoreSummary summary;
  for (auto& [name, task] : by_name) summary.tasks.push_back(std::move(task));
  const Strata strata = BoundedScores(summary.tasks);
  if (strata.empty()) return summary;
  summary.mean = EstimateOf(strata, [](const Strata& runs) { return Mean(StratumMeans(runs)); });
  summary.median =
      EstimateOf(strata, [](const Strata& runs) { return Median(StratumMeans(runs)); });
  summary.iqm =
      EstimateOf(strata, [](const Strata& runs) { return InterquartileMean(PooledRuns(runs)); });
  const std::vector<double> means = StratumMeans(strata);
  summary.worst = *std::ranges::min_element(means);
  return summary;
}

std::vector<TaskRatio> CompareScores(const ScoreSummary& a, const ScoreSummary& b) {
  std::vector<TaskRatio> ratios;
  for (const TaskSummary& task : a.tasks) {
    const auto other = std::ranges::find(b.tasks, task.task, &TaskSummary::task);
    if (other == b.tasks.end()) continue;
    TaskRatio ratio = {task.task, std::nullopt, std::nullopt};
    if (!task.scores.empty() && !other->scores.empty() && Mean(other->scores) > 0.0) {
      ratio.score = Mean(task.scores) / Mean(other->scores);
    }
    const auto steps = MedianOrNever(task.solved_env_steps);
    const auto other_steps = MedianOrNever(other->solved_env_steps);
    if (other_steps.has_value()) {
      ratio.steps = steps.value_or(std::numeric_limits<double>::infinity()) / *other_steps;
    }
    ratios.push_back(std::move(ratio));
  }
  return ratios;
}

}  // namespace lzero
