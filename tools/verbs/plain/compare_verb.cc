// `lzero compare`: returns of groups of runs beside each other, with the intervals that their
// number of runs allows.
#include <cstdio>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/text/printable.h"
#include "lzero/results/group_summary.h"
#include "lzero/run/progress.h"
#include "tools/verbs/plain/results_verbs.h"
#include "tools/verbs/support/interrupt.h"
#include "tools/verbs/support/text_table.h"
#include "tools/verbs/support/usage_error.h"
#include "tools/verbs/support/verb_support.h"

namespace lzero {
namespace {

struct CompareOptions {
  std::vector<std::string> paths;
  std::optional<double> target;
  bool unfinished = false;
  bool json = false;
};

// "3 of 5, median 1,952 (never: 2)".
std::string TargetText(const std::optional<TargetSummary>& target) {
  if (!target.has_value()) return "no target";
  const auto num_runs = static_cast<int64_t>(target->env_steps.size());
  if (target->num_solved == 0) return absl::StrCat("none of ", num_runs);
  std::string text = absl::StrCat(
      target->num_solved, " of ", num_runs, ", median ",
      target->median.has_value() ? FormatCount(static_cast<int64_t>(*target->median)) : "never");
  const int64_t num_never = num_runs - target->num_solved;
  return num_never == 0 ? text : absl::StrCat(text, " (never: ", num_never, ")");
}

// The groups that play `environment`.
std::string GroupTable(const CollectedRuns& runs, const Comparison& comparison,
                       const std::string& environment) {
  TextTable table("lrrrrrrl", {"group", "runs", "final IQM [95 %]", "mean", "median",
                               "best IQM [95 %]", "env steps to target", "target"});
  for (size_t i = 0; i < runs.groups.size(); ++i) {
    if (EnvironmentOf(runs.groups[i].runs[0].config) != environment) continue;
    const GroupSummary& group = comparison.groups[i];
    table.Add({runs.groups[i].label, absl::StrCat(group.finals.size()),
               EstimateText(group.final_iqm), absl::StrFormat("%.2f", group.final_mean),
               absl::StrFormat("%.2f", group.final_median), EstimateText(group.best_iqm),
               TargetText(group.target),
               group.target.has_value()
                   ? absl::StrFormat("%g x %d", group.target->target, group.target->patience)
                   : "-"});
  }
  return table.Text();
}

void PrintGroups(const CollectedRuns& runs, const Comparison& comparison) {
  const std::set<std::string> environments = EnvironmentsOf(runs.groups);
  for (const std::string& environment : environments) {
    if (environments.size() > 1) std::printf("environment %s\n", environment.c_str());
    std::printf("%s\n", GroupTable(runs, comparison, environment).c_str());
  }
  bool has_few = false;
  for (size_t i = 0; i < runs.groups.size(); ++i) {
    const std::string few = FewRunsText(comparison.groups[i]);
    if (few.empty()) continue;
    has_few = true;
    std::printf("%s: %s\n", runs.groups[i].label.c_str(), few.c_str());
  }
  if (has_few) std::printf("%s\n", FewRunsRule().c_str());
  std::printf(
      "best is the highest of all evaluations of a run: chance lifts it; final is the last "
      "one\n");
  for (const std::string& what : comparison.left_out) {
    std::printf("not compared: %s\n", what.c_str());
  }
}

void PrintPair(const CollectedRuns& runs, const PairSummary& pair) {
  const RunGroup& a = runs.groups[pair.a];
  const RunGroup& b = runs.groups[pair.b];
  std::printf("\nA = %s\nB = %s\n", a.label.c_str(), b.label.c_str());
  std::printf("P(A better)   %s%s\n", EstimateText(pair.improvement).c_str(),
              pair.improvement.interval.has_value() ? "" : "   (no interval: too few runs)");
  if (pair.paired.has_value()) {
    const auto num_seeds = static_cast<int>(pair.differences.size());
    std::printf("A - B         %s, mean over %d shared seed%s\n",
                EstimateText(*pair.paired).c_str(), num_seeds, num_seeds == 1 ? "" : "s");
  }
  if (pair.paired.has_value() && !pair.paired->interval.has_value()) {
    std::printf("              %s (no interval: too few seeds)\n",
                PointsText(pair.differences).c_str());
  }
  const auto differences = DiffGroups(a, b);
  for (const ConfigDifference& difference : differences) {
    std::printf("%s%s: %s -> %s\n",
                &difference == &differences[0] ? "settings      " : "              ",
                difference.key.c_str(), difference.a.c_str(), difference.b.c_str());
  }
  const std::string &commit_a = a.runs[0].git_commit, &commit_b = b.runs[0].git_commit;
  if (commit_a != commit_b) {
    std::printf("commits       %s -> %s\n", commit_a.c_str(), commit_b.c_str());
  }
}

void PrintFolders(const FolderPair& pair) {
  std::printf("\nA = %s\nB = %s\nP(A better)   %s, mean over %d environments%s: %s\n",
              pair.a.c_str(), pair.b.c_str(), EstimateText(pair.improvement).c_str(),
              static_cast<int>(pair.environments.size()),
              pair.improvement.interval.has_value() ? "" : " (no interval: too few runs)",
              absl::StrJoin(pair.environments, ", ").c_str());
}

int Compare(const CompareOptions& options) {
  const auto runs = CollectRuns(options.paths, {.take_unfinished = options.unfinished});
  if (!runs.ok()) return PrintError(runs.status(), kExitUsage);
  const Comparison comparison = CompareGroups(runs->groups, options.target);
  PrintSkipped(runs->skipped);
  if (options.json) {
    std::printf("%s", ComparisonJson(*runs, comparison).c_str());
  } else {
    PrintGroups(*runs, comparison);
    for (const PairSummary& pair : comparison.pairs) PrintPair(*runs, pair);
    for (const FolderPair& pair : comparison.folders) PrintFolders(pair);
  }
  return kExitOk;
}

}  // namespace

std::string EstimateText(const Estimate& estimate) {
  std::string text = absl::StrFormat("%.2f", estimate.value);
  if (estimate.interval.has_value()) {
    absl::StrAppendFormat(&text, " [%.2f, %.2f]", estimate.interval->low, estimate.interval->high);
  }
  return text;
}

void PrintSkipped(absl::Span<const SkippedRun> skipped) {
  for (const SkippedRun& run : skipped) {
    std::fprintf(stderr, "skipped: %s\n",
                 PrintableMessage(absl::StrCat(run.path, ": ", run.reason)).c_str());
  }
}

void AddCompare(CLI::App& app, VerbAction* action) {
  auto* options = Keep<CompareOptions>();
  CLI::App* compare = app.add_subcommand(
      "compare", "Put the returns of runs beside each other: IQM, intervals, P(A better than B)");
  compare
      ->add_option("runs", options->paths,
                   "Run folders, and folders with run folders in them: a group for each config")
      ->required();
  compare->add_option("--target", options->target, "In place of each run's stop.target_return")
      ->check([](const std::string& text) { return NumberError(text, -1e300, 1e300); });
  compare->add_flag("--unfinished", options->unfinished,
                    "Take runs that are running or were interrupted, too");
  compare->add_flag("--json", options->json, "One JSON object instead of the tables");
  compare->callback([=] { *action = [=] { return Compare(*options); }; });
}

}  // namespace lzero
