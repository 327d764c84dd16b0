#include "lzero/results/score_page.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/files.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/scalar_text.h"
#include "lzero/config/yaml/yaml_tree.h"
#include "lzero/statistics/bootstrap.h"
#include "lzero/statistics/comparison.h"

namespace lzero {
namespace {

constexpr double kPageConfidence = 0.95;
constexpr int kPageResamples = 50000;
constexpr size_t kFewestRunsOfATask = 3;  // and kFewestRunsForInterval of all

struct Aggregate {
  const char* name;
  StrataStatistic statistic;
};

std::vector<Aggregate> Aggregates() {
  return {
      {"mean", [](const Strata& runs) { return Mean(StratumMeans(runs)); }},
      {"median of the tasks", [](const Strata& runs) { return Median(StratumMeans(runs)); }},
      {"interquartile mean",
       [](const Strata& runs) { return InterquartileMean(PooledRuns(runs)); }},
      {"optimality gap", [](const Strata& runs) { return OptimalityGap(PooledRuns(runs), 1.0); }}};
}

// Three digits that tell: 0.874, 18.3, 12345.
std::string NumberText(double value) {
  const double size = std::abs(value);
  return absl::StrFormat("%.*f", size < 10.0 ? 3 : size < 1000.0 ? 1 : 0, value);
}

std::string Row(const std::vector<std::string>& cells) {
  return absl::StrCat("| ", absl::StrJoin(cells, " | "), " |\n");
}

std::string Head(const std::vector<std::string>& cells) {
  return absl::StrCat(Row(cells), Row(std::vector<std::string>(cells.size(), "---")));
}

std::string TaskTable(const ScoreSummary& summary, absl::Span<const PublishedColumn> published) {
  std::vector<std::string> head = {"task", "runs", "mean", "score"};
  for (const PublishedColumn& column : published) head.push_back(column.name);
  std::string text = Head(head);
  for (const TaskSummary& task : summary.tasks) {
    std::vector<double> measured = task.measured;
    std::ranges::sort(measured);  // the worst first
    std::vector<std::string> cells = {
        task.task,
        absl::StrJoin(measured, ", ",
                      [](std::string* out, double value) { out->append(NumberText(value)); }),
        NumberText(Mean(task.measured)), task.scores.empty() ? "-" : NumberText(Mean(task.scores))};
    for (const PublishedColumn& column : published) {
      const auto found = column.measured.find(task.task);
      cells.push_back(found == column.measured.end() ? "-" : NumberText(found->second));
    }
    text += Row(cells);
  }
  return text;
}

// The scores of a publication, a task a stratum; nullopt where it lacks one of the tasks.
std::optional<Strata> ScoresOf(const PublishedColumn& column, absl::Span<const TaskSummary> tasks) {
  Strata strata;
  for (const TaskSummary& task : tasks) {
    const auto found = column.measured.find(task.task);
    if (found == column.measured.end()) return std::nullopt;
    strata.push_back({task.scale.Normalized(found->second)});
  }
  return strata;
}

std::string AggregateTable(absl::Span<const TaskSummary> tasks, const Strata& strata,
                           absl::Span<const PublishedColumn> published) {
  std::vector<std::string> head = {"over tasks and runs", "score", "95 % interval"};
  std::vector<Strata> others;
  for (const PublishedColumn& column : published) {
    auto scores = ScoresOf(column, tasks);
    if (!scores.has_value()) continue;
    head.push_back(column.name);
    others.push_back(*std::move(scores));
  }
  const bool has_interval = PooledRuns(strata).size() >= kFewestRunsForInterval &&
                            std::ranges::all_of(strata, [](const std::vector<double>& runs) {
                              return runs.size() >= kFewestRunsOfATask;
                            });
  std::string text = Head(head);
  for (const Aggregate& aggregate : Aggregates()) {
    std::vector<std::string> cells = {aggregate.name, NumberText(aggregate.statistic(strata)), "-"};
    if (has_interval) {
      RandomStream random(0, "score_page");
      const Interval interval =
          StratifiedInterval(strata, aggregate.statistic, kPageConfidence, kPageResamples, random);
      cells.back() = absl::StrCat(NumberText(interval.low), " to ", NumberText(interval.high));
    }
    for (const Strata& scores : others) cells.push_back(NumberText(aggregate.statistic(scores)));
    text += Row(cells);
  }
  if (!others.empty()) {
    text +=
        "\nPublished columns are of one number a task, a mean over its runs; ours of all runs.\n";
  }
  return text;
}

std::string ProfileTable(const Strata& strata) {
  std::vector<double> thresholds;
  for (int tenth = 0; tenth <= 10; ++tenth) thresholds.push_back(tenth / 10.0);
  std::vector<std::string> head = {"score above"}, cells = {"share of runs"};
  const std::vector<double> shares = PerformanceProfile(strata, thresholds);
  for (size_t i = 0; i < thresholds.size(); ++i) {
    head.push_back(absl::StrFormat("%.1f", thresholds[i]));
    cells.push_back(absl::StrFormat("%.2f", shares[i]));
  }
  return Head(head) + Row(cells);
}

absl::Status Problem(const std::string& path, const TextPosition& at, absl::string_view message) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ":", at.line, ":", at.column, ": ", message));
}

}  // namespace

absl::StatusOr<std::vector<PublishedColumn>> ReadPublished(const std::string& path) {
  LZ_ASSIGN_OR_RETURN(const std::string text, ReadFile(path));
  const YamlTree tree = ReadYamlTree(text);
  for (const YamlProblem& problem : tree.problems) {
    return Problem(path, problem.position, problem.message);
  }
  std::vector<PublishedColumn> columns;
  for (const YamlEntry& method : tree.root.entries) {
    columns.push_back({method.key, {}});
    for (const YamlEntry& task : method.value.entries) {
      const auto value = ParseFloat(task.value.scalar.text);
      if (!value.ok()) {
        return Problem(path, task.value.position,
                       absl::StrCat(method.key, ", ", task.key, ": got ", ShownText(task.value),
                                    "; allowed: a number"));
      }
      columns.back().measured[task.key] = *value;
    }
    if (columns.back().measured.empty()) {
      return Problem(path, method.position,
                     absl::StrCat(method.key, ": got ", ShownText(method.value),
                                  "; allowed: {task: number, ...}"));
    }
  }
  return columns;
}

std::string ScorePage(const ScoreSummary& summary, absl::Span<const PublishedColumn> published) {
  std::string text = TaskTable(summary, published);
  std::vector<TaskSummary> scored;
  Strata strata;
  for (const TaskSummary& task : summary.tasks) {
    if (task.scores.empty()) continue;
    scored.push_back(task);
    strata.push_back(task.scores);
  }
  if (strata.empty()) return text;
  absl::StrAppend(&text, "\n", AggregateTable(scored, strata, published), "\n",
                  ProfileTable(strata));
  return text;
}

}  // namespace lzero
