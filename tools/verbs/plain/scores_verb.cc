// `lzero scores`: normalised scores of the tasks of runs, and of some runs against others: one
// model of many tasks beside models of one, a run before another task beside after it, a warm start
// beside a fresh one.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "lzero/base/files.h"
#include "lzero/base/status_macros.h"
#include "lzero/results/run_group.h"
#include "lzero/results/run_record.h"
#include "lzero/results/score_page.h"
#include "lzero/results/task_scores.h"
#include "lzero/run/progress.h"
#include "nlohmann/json.hpp"
#include "tools/verbs/plain/results_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

struct ScoresOptions {
  std::vector<std::string> paths, against;
  CollectOptions collect;
  std::string page, published;
  bool json = false;
};

// Scores of one task on two scales have no mean.
absl::Status CheckScale(absl::Span<const TaskResult> others, const TaskResult& result) {
  const auto same = std::ranges::find(others, result.task, &TaskResult::task);
  if (same == others.end() ||
      (same->scale.random == result.scale.random && same->scale.expert == result.scale.expert)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat("task ", result.task, " has score.expert ",
                                                 same->scale.expert.value_or(0), " in one run and ",
                                                 result.scale.expert.value_or(0), " in another"));
}

absl::StatusOr<ScoreSummary> ReadScores(const std::vector<std::string>& paths,
                                        const CollectOptions& options) {
  LZ_ASSIGN_OR_RETURN(const CollectedRuns runs, CollectRuns(paths, options));
  PrintSkipped(runs.skipped);
  std::vector<TaskResult> results;
  for (const RunGroup& group : runs.groups) {
    for (const RunRecord& run : group.runs) {
      LZ_ASSIGN_OR_RETURN(const auto of_run, ReadTaskResults(run));
      for (const TaskResult& result : of_run) {
        LZ_RETURN_IF_ERROR(CheckScale(results, result));
        results.push_back(result);
      }
    }
  }
  return SummarizeScores(results);
}

std::string MeanText(const std::vector<double>& values) {
  return values.empty() ? "-" : absl::StrFormat("%.2f", Mean(values));
}

std::string LowestText(const std::vector<double>& values) {
  return values.empty() ? "-" : absl::StrFormat("%.2f", *std::ranges::min_element(values));
}

// "3 of 3, median 1,952".
std::string SolvedText(const TaskSummary& task) {
  if (!task.has_target) return "no target";
  const auto& steps = task.solved_env_steps;
  const auto num_solved =
      std::ranges::count_if(steps, [](const auto& at) { return at.has_value(); });
  const std::optional<double> median = MedianOrNever(steps);
  return absl::StrCat(num_solved, " of ", steps.size(), ", median ",
                      median.has_value() ? FormatCount(static_cast<int64_t>(*median)) : "never");
}

void PrintSummary(const ScoreSummary& summary) {
  TextTable table("lrrrrl", {"task", "runs", "measured", "score", "lowest", "solved at"});
  for (const TaskSummary& task : summary.tasks) {
    table.Add({task.task, absl::StrCat(task.measured.size()), MeanText(task.measured),
               MeanText(task.scores), LowestText(task.scores), SolvedText(task)});
  }
  std::printf("%s", table.Text().c_str());
  if (!summary.mean.has_value()) return;
  std::printf("mean %s, median %s, IQM %s, worst task %.2f (scores within 0 and 1.2)\n",
              EstimateText(*summary.mean).c_str(), EstimateText(*summary.median).c_str(),
              EstimateText(*summary.iqm).c_str(), *summary.worst);
}

// The ratios that there are.
std::vector<double> Values(const std::vector<TaskRatio>& ratios,
                           std::optional<double> TaskRatio::*member) {
  std::vector<double> values;
  for (const TaskRatio& ratio : ratios) {
    if ((ratio.*member).has_value()) values.push_back(*(ratio.*member));
  }
  return values;
}

std::string RatioText(const std::optional<double>& ratio) {
  if (!ratio.has_value()) return "-";
  return std::isinf(*ratio) ? "never" : absl::StrFormat("%.2f", *ratio);
}

void PrintRatios(const std::vector<TaskRatio>& ratios) {
  TextTable table("lrr", {"task", "score ratio", "steps ratio"});
  for (const TaskRatio& ratio : ratios)
    table.Add({ratio.task, RatioText(ratio.score), RatioText(ratio.steps)});
  std::printf("\nagainst the others\n%s", table.Text().c_str());
  const std::vector<double> scores = Values(ratios, &TaskRatio::score);
  const std::vector<double> steps = Values(ratios, &TaskRatio::steps);
  if (!scores.empty()) {
    std::printf("score ratio   median %.2f, worst %.2f\n", Median(scores),
                *std::ranges::min_element(scores));
  }
  if (!steps.empty()) {
    std::printf("steps ratio   median %s, worst %s\n", RatioText(Median(steps)).c_str(),
                RatioText(*std::ranges::max_element(steps)).c_str());
  }
}

OrderedJson EstimateJson(const std::optional<Estimate>& estimate) {
  if (!estimate.has_value()) return nullptr;
  OrderedJson json = {{"value", estimate->value}};
  if (estimate->interval.has_value()) {
    json["interval"] = {estimate->interval->low, estimate->interval->high};
  }
  return json;
}

OrderedJson SummaryJson(const ScoreSummary& summary) {
  OrderedJson json = {{"mean", EstimateJson(summary.mean)},
                      {"median", EstimateJson(summary.median)},
                      {"iqm", EstimateJson(summary.iqm)},
                      {"worst", summary.worst.has_value() ? OrderedJson(*summary.worst) : nullptr},
                      {"tasks", OrderedJson::array()}};
  for (const TaskSummary& task : summary.tasks) {
    OrderedJson steps = OrderedJson::array();
    for (const auto& at : task.solved_env_steps) {
      steps.push_back(at.has_value() ? OrderedJson(*at) : nullptr);
    }
    json["tasks"].push_back({{"task", task.task},
                             {"measured", task.measured},
                             {"scores", task.scores},
                             {"solved_env_steps", steps}});
  }
  return json;
}

OrderedJson RatiosJson(const std::vector<TaskRatio>& ratios) {
  OrderedJson json = OrderedJson::array();
  const auto value = [](const std::optional<double>& ratio) {
    if (!ratio.has_value()) return OrderedJson(nullptr);
    return std::isinf(*ratio) ? OrderedJson("never") : OrderedJson(*ratio);
  };
  for (const TaskRatio& ratio : ratios) {
    json.push_back(
        {{"task", ratio.task}, {"score", value(ratio.score)}, {"steps", value(ratio.steps)}});
  }
  return json;
}

absl::Status WritePage(const ScoresOptions& options, const ScoreSummary& summary) {
  std::vector<PublishedColumn> published;
  if (!options.published.empty()) {
    LZ_ASSIGN_OR_RETURN(published, ReadPublished(options.published));
  }
  return WriteFileAtomic(options.page, ScorePage(summary, published));
}

int Scores(const ScoresOptions& options) {
  const auto summary = ReadScores(options.paths, options.collect);
  if (!summary.ok()) return PrintError(summary.status(), kExitUsage);
  std::optional<ScoreSummary> other;
  if (!options.against.empty()) {
    auto read = ReadScores(options.against, options.collect);
    if (!read.ok()) return PrintError(read.status(), kExitUsage);
    other = *std::move(read);
  }
  if (!options.page.empty()) {
    const absl::Status written = WritePage(options, *summary);
    if (!written.ok()) return PrintError(written, kExitUsage);
  }
  if (options.json) {
    OrderedJson json = SummaryJson(*summary);
    if (other.has_value()) {
      json["against"] = SummaryJson(*other);
      json["ratios"] = RatiosJson(CompareScores(*summary, *other));
    }
    std::printf("%s\n", json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace).c_str());
    return kExitOk;
  }
  PrintSummary(*summary);
  if (other.has_value()) PrintRatios(CompareScores(*summary, *other));
  if (!options.page.empty()) std::printf("page          %s\n", options.page.c_str());
  return kExitOk;
}

}  // namespace

void AddScores(CLI::App& app, VerbAction* action) {
  auto* options = Keep<ScoresOptions>();
  CLI::App* scores = app.add_subcommand(
      "scores", "Show normalised scores of the tasks of runs, and those of other runs beside them");
  scores
      ->add_option("runs", options->paths,
                   "Run folders, and folders with run folders in them, of several tasks or of one")
      ->required();
  scores->add_option("--against", options->against,
                     "Such folders: ratios of scores and of steps to the target, task by task");
  CLI::Option* page = scores->add_option(
      "--page", options->page,
      "A file for a page in Markdown: every run, aggregates as rliable has them, the profile");
  scores
      ->add_option("--published", options->published,
                   "YAML file of published scores that the page has beside them: {name: {task: "
                   "number}}")
      ->needs(page);
  scores->add_flag("--unfinished", options->collect.take_unfinished,
                   "Also runs that are running, interrupted or failed");
  scores->add_flag("--json", options->json, "One JSON object instead of the tables");
  scores->callback([=] { *action = [=] { return Scores(*options); }; });
}

}  // namespace lzero
