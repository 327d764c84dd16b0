#include "lzero/report/page_charts.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/report/chart.h"
#include "lzero/report/group_curve.h"
#include "lzero/report/html.h"
#include "lzero/statistics/bootstrap.h"
#include "lzero/statistics/comparison.h"

namespace lzero {
namespace {

constexpr const char* kEvaluated = "eval/return_mean";
constexpr const char* kMeanScore = "score/mean";  // with several tasks
constexpr const char* kCollected = "collect/return_mean";
constexpr absl::string_view kTask = "task/";
constexpr absl::string_view kScore = "/score";
constexpr absl::string_view kTaskReturn = "/eval/return_mean";
constexpr absl::string_view kShare = "time/share_";
constexpr absl::string_view kOpenLoop = "open_loop/";

struct SmallChart {
  const char* metric;
  const char* title;
  bool starts_at_zero = false;
};
constexpr SmallChart kTrust[] = {
    {"eval/value_bias", "value bias: value \xe2\x88\x92 return that followed"},
    {"eval/value_error", "value error: |value \xe2\x88\x92 return|", true},
    {"eval/value_correlation", "correlation of values and returns"},
    {"latent/spread", "spread of latents (near 0: collapsed)", true},
};
constexpr SmallChart kLearning[] = {
    {"search/depth_mean", "search depth, mean", true},
    {"search/entropy", "entropy of the search's policy, nats", true},
    {"policy/entropy", "entropy of the policy head, nats"},
    {"search/root_value", "root value, mean"},
    {"loss/total", "loss, total"},
    {"loss/value", "loss, value", true},
    {"loss/policy", "loss, policy"},
    {"loss/reward", "loss, reward", true},
    {"loss/latent", "loss, latent", true},
    {"grad/norm", "gradient norm", true},
    {"replay/size", "replay, transitions stored", true},
    {"replay/mebibytes", "replay memory, MiB", true},
    {"replay/reuse", "replay, samples a transition", true},
    {"replay/age", "replay, age of samples", true},
    {"cache/mebibytes", "key/value cache, MiB", true},
    {"time/env_steps_per_s", "env steps a second", true},
    {"time/sims_per_s", "simulations a second", true},
    {"time/updates_per_s", "updates a second", true},
};

// Whether it tells how well a task goes: "task/pong/score".
bool IsOfTask(absl::string_view name) {
  return absl::StartsWith(name, kTask) &&
         (absl::EndsWith(name, kScore) || absl::EndsWith(name, kTaskReturn));
}

// Calls visit(group, run, metrics) for every run.
template <typename Visit>
void ForEachRun(const ReportInput& input, const Visit& visit) {
  for (size_t group = 0; group < input.metrics.size(); ++group) {
    for (size_t run = 0; run < input.metrics[group].size(); ++run) {
      visit(group, input.runs.groups[group].runs[run], input.metrics[group][run]);
    }
  }
}

bool IsAlone(const ReportInput& input) {
  return input.metrics.size() == 1 && input.metrics[0].size() == 1;
}

LineKind KindOf(const ReportInput& input) {
  return IsAlone(input) ? LineKind::kSolo : LineKind::kThin;
}

std::string NameOf(const ReportInput& input, size_t group, const RunRecord& run) {
  const std::string seed = absl::StrCat("seed ", run.config.seed);
  return input.metrics.size() == 1 ? seed
                                   : absl::StrCat(input.runs.groups[group].label, ", ", seed);
}

// A line a run of one metric; of the runs on `environment`, unless that is "".
void AddLines(const ReportInput& input, const std::string& metric, const std::string& environment,
              Chart* chart) {
  ForEachRun(input, [&](size_t group, const RunRecord& run, const RunMetrics& metrics) {
    const auto found = metrics.find(metric);
    if (found == metrics.end()) return;
    if (!environment.empty() && EnvironmentOf(run.config) != environment) return;
    chart->lines.push_back({NameOf(input, group, run), group, KindOf(input),
                            found->second.env_steps, found->second.values});
  });
}

std::string SmallCharts(const ReportInput& input, absl::Span<const SmallChart> charts) {
  std::string text;
  for (const SmallChart& small : charts) {
    Chart chart;
    chart.title = small.title;
    chart.x_label = "env steps";
    chart.starts_at_zero = small.starts_at_zero;
    AddLines(input, small.metric, "", &chart);
    if (!chart.lines.empty()) absl::StrAppend(&text, "<figure>", DrawChart(chart), "</figure>\n");
  }
  return text;
}

void AddCurves(const ReportInput& input, const std::string& environment, Chart* chart) {
  for (size_t group = 0; group < input.runs.groups.size(); ++group) {
    if (EnvironmentOf(input.runs.groups[group].runs[0].config) != environment) continue;
    const GroupCurve curve = CurveOf(input.runs.groups[group]);
    if (curve.env_steps.empty()) continue;
    const size_t num_runs = input.comparison.groups[group].finals.size();
    if (!curve.low.empty()) chart->bands.push_back({group, curve.env_steps, curve.low, curve.high});
    chart->lines.push_back({absl::StrCat(input.runs.groups[group].label, ", ", IqmName(num_runs)),
                            group, LineKind::kBold, curve.env_steps, curve.value});
  }
}

// Whether the runs on `environment` have several tasks.
bool HasTasks(const ReportInput& input, const std::string& environment) {
  return std::ranges::any_of(input.runs.groups, [&](const RunGroup& group) {
    const ExperimentConfig& config = group.runs[0].config;
    return EnvironmentOf(config) == environment && config.tasks.size() > 1;
  });
}

// The target, if all groups on `environment` have the same one.
std::optional<double> CommonTarget(const ReportInput& input, const std::string& environment) {
  std::optional<double> target;
  for (const RunGroup& group : input.runs.groups) {
    if (EnvironmentOf(group.runs[0].config) != environment) continue;
    const std::optional<double> own = TargetOf(group.runs[0].config);
    if (!own.has_value() || (target.has_value() && *target != *own)) return std::nullopt;
    target = own;
  }
  return target;
}

// The last values of the metrics `prefix`K by their K.
std::map<int, double> LastValues(const RunMetrics& metrics, absl::string_view prefix) {
  std::map<int, double> values;
  for (const auto& [name, series] : metrics) {
    int number = 0;
    if (absl::StartsWith(name, prefix) && absl::SimpleAtoi(name.substr(prefix.size()), &number) &&
        !series.values.empty()) {
      values[number] = series.values.back();
    }
  }
  return values;
}

// Returns that followed against values at the end of each run, a point a tenth of the steps.
std::string CalibrationChart(const ReportInput& input) {
  Chart chart;
  chart.title = "calibration: returns against values";
  chart.x_label = "root value (dashed: equal)";
  std::vector<double> all;
  ForEachRun(input, [&](size_t group, const RunRecord& run, const RunMetrics& metrics) {
    ChartLine line{NameOf(input, group, run), group, KindOf(input), {}, {}};
    const std::map<int, double> returns = LastValues(metrics, "calibration/return_");
    for (const auto& [number, value] : LastValues(metrics, "calibration/value_")) {
      const auto followed = returns.find(number);
      if (followed == returns.end()) continue;
      line.x.push_back(value), line.y.push_back(followed->second);
    }
    all.insert(all.end(), line.x.begin(), line.x.end());
    if (!line.x.empty()) chart.lines.push_back(std::move(line));
  });
  if (all.empty()) return "";
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  chart.lines.push_back({"equal", 0, LineKind::kGuide, {*low, *high}, {*low, *high}});
  return absl::StrCat("<figure>", DrawChart(chart), "</figure>\n");
}

// The error of `quantity` ("reward") after K imagined steps, at the end of each run.
std::string OpenLoopChart(const ReportInput& input, const std::string& quantity) {
  Chart chart;
  chart.title = absl::StrCat("open loop: error of the ", quantity);
  chart.x_label = "imagined steps";
  chart.starts_at_zero = true;
  const std::string prefix = absl::StrCat(kOpenLoop, quantity, "_");
  ForEachRun(input, [&](size_t group, const RunRecord& run, const RunMetrics& metrics) {
    const std::map<int, double> errors = LastValues(metrics, prefix);
    ChartLine line{NameOf(input, group, run), group, KindOf(input), {}, {}};
    for (const auto& [steps, error] : errors) line.x.push_back(steps), line.y.push_back(error);
    if (!errors.empty()) chart.lines.push_back(std::move(line));
  });
  return chart.lines.empty() ? "" : absl::StrCat("<figure>", DrawChart(chart), "</figure>\n");
}

bool IsOf(absl::Span<const SmallChart> charts, absl::string_view name) {
  return std::any_of(charts.begin(), charts.end(),
                     [&](const SmallChart& chart) { return chart.metric == name; });
}

// Corners of a line that is level up to the next point: each of `values` [n] twice, but once the
// one at index 0 (`first` 1) or n - 1 (`first` 0). [2 n - 1]
std::vector<double> Doubled(const std::vector<double>& values, size_t first) {
  std::vector<double> corners;
  for (const double value : values) corners.insert(corners.end(), 2, value);
  corners.erase(first == 1 ? corners.begin() : corners.end() - 1);
  return corners;
}

// The shares of one group: the mean of its runs' last values.
std::vector<StripPart> SharesOf(const std::vector<RunMetrics>& runs) {
  std::map<std::string, double> sums;
  double total = 0.0;
  for (const RunMetrics& metrics : runs) {
    for (const auto& [name, series] : metrics) {
      if (!absl::StartsWith(name, kShare) || series.values.empty()) continue;
      sums[name.substr(kShare.size())] += series.values.back();
      total += series.values.back();
    }
  }
  std::vector<StripPart> parts;
  for (const char* name : {"network", "tree", "env", "learn", "reanalyze", "copy", "evaluate"}) {
    const double sum = sums.count(name) > 0 ? sums[name] : 0.0;
    if (total > 0.0) parts.push_back({name, sum / total, parts.size()});
  }
  return parts;
}

}  // namespace

bool IsChartedMetric(absl::string_view name) {
  return name == kEvaluated || name == kMeanScore || IsOfTask(name) || name == kCollected ||
         absl::StartsWith(name, kShare) || absl::StartsWith(name, kOpenLoop) ||
         absl::StartsWith(name, "calibration/") || IsOf(kTrust, name) || IsOf(kLearning, name);
}

std::string ReturnCharts(const ReportInput& input) {
  const std::set<std::string> environments = EnvironmentsOf(input.runs.groups);
  std::string text;
  bool has_bands = false;
  for (const std::string& environment : environments) {
    const std::string place = environments.size() > 1 ? absl::StrCat(environment, ": ") : "";
    // Evaluations.
    Chart evaluated;
    const bool has_tasks = HasTasks(input, environment);
    evaluated.title =
        absl::StrCat(place, has_tasks ? "mean score of the tasks" : "mean return of evaluations",
                     " (greedy play)");
    evaluated.x_label = "env steps";
    evaluated.width = 940, evaluated.height = environments.size() > 1 ? 260 : 360;
    AddLines(input, has_tasks ? kMeanScore : kEvaluated, environment, &evaluated);
    AddCurves(input, environment, &evaluated);
    evaluated.level = CommonTarget(input, environment);
    if (evaluated.level.has_value()) {
      evaluated.level_name = absl::StrCat("target ", TickText(*evaluated.level));
    }
    has_bands = has_bands || !evaluated.bands.empty();
    if (evaluated.lines.empty()) {
      absl::StrAppend(&text, "<p class=\"note\">", EscapeHtml(place), place.empty() ? "Not" : "not",
                      " evaluated yet.</p>\n");
    } else {
      absl::StrAppend(&text, "<figure>", DrawChart(evaluated), "</figure>\n");
    }
    // Collected episodes.
    Chart collected;
    collected.title =
        absl::StrCat(place, "mean return of collected episodes (with noise and temperature)");
    collected.x_label = "env steps";
    collected.width = 940, collected.height = 200;
    AddLines(input, kCollected, environment, &collected);
    if (!collected.lines.empty()) {
      absl::StrAppend(&text, "<figure>", DrawChart(collected), "</figure>\n");
    }
  }
  if (IsAlone(input)) return text;
  return absl::StrCat(
      text,
      "<p class=\"note\">Thin: a run each. Bold: interquartile mean over the runs; below four runs "
      "it is the mean.",
      has_bands ? " Band: its 95 % bootstrap interval."
                : " No band below five runs: a bootstrap would be too narrow.",
      " A run that ended because it was solved is held at its last return.</p>\n");
}

std::string TaskCharts(const ReportInput& input) {
  std::set<std::string> names;
  ForEachRun(input, [&](size_t, const RunRecord&, const RunMetrics& metrics) {
    for (const auto& [name, series] : metrics) {
      if (IsOfTask(name)) names.insert(name);
    }
  });
  std::string text;
  for (const std::string& name : names) {
    const std::string task = name.substr(kTask.size(), name.find('/', kTask.size()) - kTask.size());
    const bool is_score = absl::EndsWith(name, kScore);
    const std::string title = absl::StrCat(task, is_score ? ": score" : ": mean return");
    absl::StrAppend(&text, SmallCharts(input, {{name.c_str(), title.c_str()}}));
  }
  return text;
}

std::string TimeStrips(const ReportInput& input) {
  std::string text;
  for (size_t group = 0; group < input.metrics.size(); ++group) {
    const std::vector<StripPart> parts = SharesOf(input.metrics[group]);
    if (parts.empty()) continue;
    const std::string label = EscapeHtml(input.runs.groups[group].label);
    absl::StrAppend(&text, "<figure class=\"strip\"><figcaption>", label, "</figcaption>",
                    DrawStrip(parts), "</figure>\n");
    if (group + 1 < input.metrics.size()) continue;
    text += "<p class=\"legend\">";
    for (const StripPart& part : parts) {
      absl::StrAppend(&text, "<span class=\"", ColorClass(part.color), " swatch\"></span>",
                      part.name, " ");
    }
    text += "</p>\n";
  }
  return text;
}

std::string ProfileChart(const ReportInput& input) {
  Chart chart;
  chart.title = "performance profile: share of runs with a final return above x";
  chart.x_label = "return";
  chart.width = 940, chart.height = 240;
  chart.starts_at_zero = true;
  // A profile changes at the returns themselves and is level between them.
  std::set<double> returns;
  for (const GroupSummary& group : input.comparison.groups) {
    returns.insert(group.finals.begin(), group.finals.end());
  }
  if (returns.empty()) return "";
  const double width = *returns.rbegin() - *returns.begin();
  const double margin = width > 0.0 ? 0.05 * width : 1.0;
  std::vector<double> thresholds = {*returns.begin() - margin};
  thresholds.insert(thresholds.end(), returns.begin(), returns.end());
  thresholds.push_back(*returns.rbegin() + margin);
  for (size_t group = 0; group < input.comparison.groups.size(); ++group) {
    const std::vector<double>& finals = input.comparison.groups[group].finals;
    if (finals.empty()) continue;
    const std::vector<double> x = Doubled(thresholds, 1);
    chart.lines.push_back({input.runs.groups[group].label, group, LineKind::kBold, x,
                           Doubled(PerformanceProfile({finals}, thresholds), 0)});
    if (finals.size() < kFewestRunsForInterval) continue;
    std::vector<double> low, high;
    RandomStream random(0, "profile");
    for (const double threshold : thresholds) {
      const Interval interval = StratifiedInterval(
          {finals}, [&](const Strata& drawn) { return PerformanceProfile(drawn, {threshold})[0]; },
          0.95, 2000, random);
      low.push_back(interval.low), high.push_back(interval.high);
    }
    chart.bands.push_back({group, x, Doubled(low, 0), Doubled(high, 0)});
  }
  return absl::StrCat("<figure>", DrawChart(chart), "</figure>\n");
}

std::string TrustCharts(const ReportInput& input) {
  std::string text = absl::StrCat(CalibrationChart(input), SmallCharts(input, kTrust));
  for (const char* quantity : {"reward", "value", "latent"}) text += OpenLoopChart(input, quantity);
  return text;
}

std::string LearningCharts(const ReportInput& input) { return SmallCharts(input, kLearning); }

}  // namespace lzero
