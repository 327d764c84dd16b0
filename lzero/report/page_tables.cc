#include "lzero/report/page_tables.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/text/printable.h"
#include "lzero/report/chart.h"
#include "lzero/report/html.h"
#include "lzero/run/progress.h"

namespace lzero {
namespace {

constexpr const char* kNone = "<span class=\"none\">\xe2\x80\x93</span>";

std::string Number(double value) {
  return std::abs(value) < 1e9 ? absl::StrFormat("%.2f", value) : absl::StrFormat("%.3g", value);
}

std::string EstimateText(const Estimate& estimate) {
  std::string text = Number(estimate.value);
  if (!estimate.interval.has_value()) return text;
  return absl::StrCat(text, " <span class=\"interval\">[", Number(estimate.interval->low), ", ",
                      Number(estimate.interval->high), "]</span>");
}

std::string Label(const ReportInput& input, size_t group) {
  return absl::StrCat("<span class=\"", ColorClass(group), " swatch\"></span>",
                      EscapeHtml(input.runs.groups[group].label));
}

// The median time of the runs that were solved, if all tell; "".
std::string SolvedSeconds(const RunGroup& group) {
  std::vector<double> seconds;
  for (const RunRecord& run : group.runs) {
    if (run.solved_wall_seconds.has_value()) seconds.push_back(*run.solved_wall_seconds);
  }
  if (seconds.empty()) return "";
  return absl::StrFormat(" and %.1f s", Median(seconds));
}

std::string VerdictText(const RunGroup& group, const GroupSummary& summary) {
  if (summary.finals.empty()) return "<b class=\"open\">Not evaluated yet.</b>";
  if (!summary.target.has_value()) {
    return absl::StrCat("<b class=\"open\">No target set.</b> Final return ",
                        IqmName(summary.finals.size()), " ", EstimateText(summary.final_iqm), ".");
  }
  const TargetSummary& target = *summary.target;
  const size_t num_runs = target.env_steps.size();
  const std::string meaning =
      absl::StrFormat("mean return of at least %g in %d evaluation%s in a row", target.target,
                      target.patience, target.patience == 1 ? "" : "s");
  if (target.num_solved == 0) {
    return absl::StrCat("<b class=\"bad\">Not solved</b>", num_runs == 1 ? "" : " by any run",
                        ": no ", meaning, ". Best ",
                        Number(*std::max_element(summary.bests.begin(), summary.bests.end())), ".");
  }
  const bool is_all = static_cast<size_t>(target.num_solved) == num_runs;
  const std::string who = num_runs == 1 ? ""
                          : is_all
                              ? absl::StrCat(" by all ", num_runs, " runs")
                              : absl::StrCat(" by ", target.num_solved, " of ", num_runs, " runs");
  const std::string when = target.median.has_value()
                               ? absl::StrCat(num_runs == 1 ? " after " : ", after a median of ",
                                              FormatCount(static_cast<int64_t>(*target.median)),
                                              " env steps", is_all ? SolvedSeconds(group) : "")
                               : "; the median run never was";
  return absl::StrCat("<b class=\"", is_all ? "good" : "open", "\">Solved", who, "</b>", when, ": ",
                      meaning, ".");
}

std::string CommandOf(const RunRecord& run, const std::string& program) {
  std::vector<std::string> words = {program};
  for (size_t i = 1; i < run.command_line.size(); ++i) {
    words.push_back(ShellQuoted(run.command_line[i]));
  }
  return absl::StrJoin(words, " ");
}

// Keys whose values are not the same in all groups, and the value of each group.
std::map<std::string, std::vector<std::string>> Differences(const ReportInput& input) {
  const std::vector<RunGroup>& groups = input.runs.groups;
  std::map<std::string, std::vector<std::string>> values;
  for (size_t other = 1; other < groups.size(); ++other) {
    for (const ConfigDifference& difference : DiffGroups(groups[0], groups[other])) {
      auto& row = values[difference.key];
      if (row.empty()) row.assign(groups.size(), difference.a);
      row[other] = difference.b;
    }
  }
  return values;
}

}  // namespace

std::string Verdicts(const ReportInput& input) {
  std::string text = "<div class=\"cards\">\n";
  for (size_t i = 0; i < input.runs.groups.size(); ++i) {
    const RunGroup& group = input.runs.groups[i];
    std::vector<std::string> seeds;
    for (const RunRecord& run : group.runs) seeds.push_back(absl::StrCat(run.config.seed));
    absl::StrAppend(&text, "<div class=\"card\"><h3>", Label(input, i),
                    "</h3><p class=\"verdict\">", VerdictText(group, input.comparison.groups[i]),
                    "</p><p class=\"note\">", EscapeHtml(EnvironmentOf(group.runs[0].config)),
                    " \xc2\xb7 ", EscapeHtml(group.runs[0].name), " \xc2\xb7 ", seeds.size(),
                    seeds.size() == 1 ? " run, seed " : " runs, seeds ", absl::StrJoin(seeds, ", "),
                    group.runs[0].is_self_play
                        ? ". Self-play: the return is that of player 0, which is no measure of "
                          "strength"
                        : "",
                    "</p></div>\n");
  }
  return text + "</div>\n";
}

std::string Warnings(const ReportInput& input) {
  std::string items;
  for (const RunGroup& group : input.runs.groups) {
    for (const RunRecord& run : group.runs) {
      if (run.state == "finished") continue;
      absl::StrAppend(&items, "<li>", EscapeHtml(run.path), " is <b>", run.state, "</b> at ",
                      FormatCount(run.env_steps), " env steps and counts as it is",
                      absl::StrContains(run.message, '\n')
                          ? absl::StrCat("<pre>", EscapeHtml(run.message), "</pre>")
                      : run.message.empty() ? ""
                                            : absl::StrCat(": ", EscapeHtml(run.message)),
                      "</li>\n");
    }
  }
  for (const SkippedRun& run : input.runs.skipped) {
    absl::StrAppend(&items, "<li>", EscapeHtml(run.path),
                    " is <b>left out</b>: ", EscapeHtml(run.reason), "</li>\n");
  }
  return items.empty() ? "" : absl::StrCat("<ul class=\"warnings\">\n", items, "</ul>\n");
}

std::string ReturnTable(const ReportInput& input) {
  std::vector<std::vector<std::string>> rows;
  std::string points;
  for (size_t i = 0; i < input.runs.groups.size(); ++i) {
    const GroupSummary& group = input.comparison.groups[i];
    if (group.finals.empty()) continue;
    std::string solved = kNone, steps = kNone, gap = kNone;
    if (group.target.has_value()) {
      solved = absl::StrCat(group.target->num_solved, " of ", group.finals.size());
      steps = group.target->median.has_value()
                  ? FormatCount(static_cast<int64_t>(*group.target->median))
                  : "never";
      gap = Number(group.target->gap);
    }
    rows.push_back({Label(input, i), absl::StrCat(group.finals.size()),
                    EstimateText(group.final_iqm), Number(group.final_mean),
                    Number(group.final_median), EstimateText(group.best_iqm), gap, solved, steps});
    const std::string few = FewRunsText(group);
    if (few.empty()) continue;
    absl::StrAppend(&points, "<p class=\"note\">", Label(input, i), ": ", few, ".</p>\n");
  }
  if (!points.empty()) absl::StrAppend(&points, "<p class=\"note\">", FewRunsRule(), ".</p>\n");
  if (rows.empty()) return "<p class=\"note\">No run was evaluated.</p>\n";
  return absl::StrCat(
      HtmlTable("lrrrrrrrr",
                {"group", "runs", "final IQM [95\xc2\xa0%]", "mean", "median",
                 "best IQM [95\xc2\xa0%]", "gap to target", "solved", "median env steps"},
                rows),
      points,
      "<p class=\"note\">A run's final return is the mean of its last evaluation. Its best one is "
      "the highest of all, which chance lifts. Runs that were never solved count as such in the "
      "median of env steps.</p>\n");
}

std::string PairTables(const ReportInput& input) {
  std::vector<std::vector<std::string>> rows;
  for (const PairSummary& pair : input.comparison.pairs) {
    rows.push_back({Label(input, pair.a), Label(input, pair.b), EstimateText(pair.improvement),
                    absl::StrCat(pair.differences.size()),
                    pair.paired.has_value() ? EstimateText(*pair.paired) : kNone});
  }
  std::string text;
  if (!rows.empty()) {
    text = absl::StrCat(HtmlTable("llrrr",
                                  {"A", "B", "P(A better) [95\xc2\xa0%]", "shared seeds",
                                   "mean of A \xe2\x88\x92 B [95\xc2\xa0%]"},
                                  rows),
                        "<p class=\"note\">P(A better): how often a run of A ends above one of B, "
                        "ties counted half. "
                        "Intervals need five runs or seeds on both sides.</p>\n");
  }
  for (const FolderPair& pair : input.comparison.folders) {
    absl::StrAppend(&text, "<p>Over ", pair.environments.size(), " environments, P(",
                    EscapeHtml(pair.a), " better than ", EscapeHtml(pair.b), ") is ",
                    EstimateText(pair.improvement), ", the mean over the environments.</p>\n");
  }
  for (const std::string& what : input.comparison.left_out) {
    absl::StrAppend(&text, "<p class=\"note\">Not compared: ", what, ".</p>\n");
  }
  const auto differences = Differences(input);
  if (differences.empty()) return text;
  std::vector<std::string> header = {"setting"};
  for (size_t i = 0; i < input.runs.groups.size(); ++i) header.push_back(Label(input, i));
  rows.clear();
  for (const auto& [key, values] : differences) {
    std::vector<std::string> row = {absl::StrCat("<code>", EscapeHtml(key), "</code>")};
    for (const std::string& value : values) row.push_back(EscapeHtml(value));
    rows.push_back(std::move(row));
  }
  return absl::StrCat(text, "<h3>Settings in which the groups differ</h3>\n",
                      HtmlTable(std::string(header.size(), 'l'), header, rows));
}

std::string RunTable(const ReportInput& input) {
  std::vector<std::vector<std::string>> rows;
  for (size_t i = 0; i < input.runs.groups.size(); ++i) {
    const auto& target = input.comparison.groups[i].target;
    for (const RunRecord& run : input.runs.groups[i].runs) {
      const bool has_returns = !run.evaluations.empty();
      const auto solved =
          target.has_value() ? StepsToTarget(run, target->target, target->patience) : std::nullopt;
      rows.push_back({Label(input, i), absl::StrCat(run.config.seed), EscapeHtml(run.state),
                      FormatCount(run.env_steps), absl::StrFormat("%.1f", run.wall_seconds / 60.0),
                      has_returns ? Number(FinalReturn(run)) : kNone,
                      has_returns ? Number(BestReturn(run)) : kNone,
                      solved.has_value() ? FormatCount(*solved) : kNone, EscapeHtml(run.git_commit),
                      EscapeHtml(run.start_time)});
    }
  }
  return HtmlTable("lrlrrrrrll",
                   {"group", "seed", "state", "env steps", "minutes", "final", "best", "solved at",
                    "commit", "started"},
                   rows);
}

std::string Settings(const ReportInput& input) {
  std::string text;
  for (size_t i = 0; i < input.runs.groups.size(); ++i) {
    std::string items;
    for (const auto& difference :
         DiffConfigs(ExperimentConfig(), input.runs.groups[i].runs[0].config)) {
      if (difference.key == "seed") continue;
      absl::StrAppend(&items, "<div><code>", EscapeHtml(difference.key), "</code> ",
                      EscapeHtml(difference.b), " <span class=\"none\">(", EscapeHtml(difference.a),
                      ")</span></div>\n");
    }
    absl::StrAppend(&text, "<h3>", Label(input, i), "</h3>\n<div class=\"settings\">",
                    items.empty() ? "every setting is the default" : items, "</div>\n");
  }
  return text;
}

std::string Commands(const ReportInput& input) {
  constexpr size_t kMost = 10;
  std::string text;
  for (size_t i = 0; i < input.runs.groups.size(); ++i) {
    const std::vector<RunRecord>& runs = input.runs.groups[i].runs;
    absl::StrAppend(&text, "<h3>", Label(input, i), "</h3>\n<p class=\"note\">lzero ",
                    EscapeHtml(runs[0].version), ", commit ", EscapeHtml(runs[0].git_commit),
                    "</p>\n<pre>");
    for (size_t run = 0; run < std::min(kMost, runs.size()); ++run) {
      absl::StrAppend(&text, EscapeHtml(CommandOf(runs[run], input.program)), "\n");
    }
    if (runs.size() > kMost) absl::StrAppend(&text, "... and ", runs.size() - kMost, " more\n");
    text += "</pre>\n";
  }
  return text;
}

std::string Pictures(const ReportInput& input) {
  std::string text;
  for (size_t i = 0; i < input.pictures.size(); ++i) {
    const GroupPictures& pictures = input.pictures[i];
    absl::StrAppend(&text, "<h3>", Label(input, i), "</h3>\n<p class=\"note\">",
                    EscapeHtml(pictures.problem.empty() ? pictures.source : pictures.problem),
                    "</p>\n<div class=\"pictures\">");
    for (const EpisodePicture& episode : pictures.episodes) {
      const std::string caption = EscapeHtml(episode.caption);
      absl::StrAppend(&text, "<figure><img alt=\"", caption, "\" src=\"data:image/gif;base64,",
                      absl::Base64Escape(episode.gif), "\"><figcaption>", caption,
                      "</figcaption></figure>\n");
    }
    text += "</div>\n";
  }
  return text;
}

}  // namespace lzero
