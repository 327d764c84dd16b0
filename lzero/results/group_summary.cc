#include "lzero/results/group_summary.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/rng.h"
#include "lzero/statistics/bootstrap.h"
#include "lzero/statistics/comparison.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr double kConfidence = 0.95;
constexpr int kNumResamples = 50000;
constexpr size_t kMostForAllPairs = 8;  // groups

bool HasInterval(size_t num_runs) { return num_runs >= kFewestRunsForInterval; }

Estimate EstimateOf(const std::vector<double>& values, const Statistic& statistic) {
  Estimate estimate{statistic(values), std::nullopt};
  if (HasInterval(values.size())) {
    RandomStream random(0, "group summary");
    estimate.interval = BootstrapInterval(values, statistic, kConfidence, kNumResamples, random);
  }
  return estimate;
}

TargetSummary SummarizeTarget(const RunGroup& group, double target,
                              absl::Span<const double> finals) {
  TargetSummary summary;
  summary.target = target;
  summary.patience = group.runs[0].config.stop.patience;
  summary.gap = OptimalityGap(finals, target);
  for (const RunRecord& run : group.runs) {
    if (run.evaluations.empty()) continue;
    summary.env_steps.push_back(StepsToTarget(run, target, summary.patience));
    summary.num_solved += summary.env_steps.back().has_value() ? 1 : 0;
  }
  summary.median = MedianOrNever(summary.env_steps);
  return summary;
}

GroupSummary Summarize(const RunGroup& group, std::optional<double> target) {
  GroupSummary summary;
  for (const RunRecord& run : group.runs) {
    if (run.evaluations.empty()) continue;
    summary.finals.push_back(FinalReturn(run));
    summary.bests.push_back(BestReturn(run));
  }
  if (summary.finals.empty()) return summary;
  summary.final_iqm = EstimateOf(summary.finals, InterquartileMean);
  summary.best_iqm = EstimateOf(summary.bests, InterquartileMean);
  summary.final_mean = Mean(summary.finals);
  summary.final_median = Median(summary.finals);
  if (!target.has_value()) target = TargetOf(group.runs[0].config);
  if (target.has_value()) summary.target = SummarizeTarget(group, *target, summary.finals);
  return summary;
}

Estimate ImprovementOf(const Strata& x, const Strata& y) {
  Estimate estimate{ProbabilityOfImprovement(x, y), std::nullopt};
  size_t fewest = x[0].size();
  for (const Strata& side : {x, y}) {
    for (const auto& runs : side) fewest = std::min(fewest, runs.size());
  }
  if (HasInterval(fewest)) {
    RandomStream random(0, "pair summary");
    estimate.interval = ProbabilityOfImprovementInterval(x, y, kConfidence, kNumResamples, random);
  }
  return estimate;
}

PairSummary ComparePair(absl::Span<const RunGroup> groups, const Comparison& comparison, size_t a,
                        size_t b) {
  PairSummary pair;
  pair.a = a, pair.b = b;
  pair.improvement = ImprovementOf({comparison.groups[a].finals}, {comparison.groups[b].finals});
  for (const RunRecord& first : groups[a].runs) {
    for (const RunRecord& second : groups[b].runs) {
      if (first.config.seed != second.config.seed || first.evaluations.empty() ||
          second.evaluations.empty()) {
        continue;
      }
      pair.differences.push_back(FinalReturn(first) - FinalReturn(second));
    }
  }
  if (!pair.differences.empty()) pair.paired = EstimateOf(pair.differences, Mean);
  return pair;
}

bool IsSelfPlay(const RunGroup& group) { return group.runs[0].is_self_play; }

// The folders with one evaluated group an environment: folder -> environment -> final returns.
std::map<std::string, std::map<std::string, std::vector<double>>> TasksOf(
    absl::Span<const RunGroup> groups, const Comparison& comparison) {
  std::map<std::string, std::map<std::string, std::vector<double>>> folders;
  std::set<std::string> ambiguous = {""};
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<double>& finals = comparison.groups[i].finals;
    const std::string environment = EnvironmentOf(groups[i].runs[0].config);
    const bool is_new = folders[groups[i].folder].try_emplace(environment, finals).second;
    if (!is_new || finals.empty() || IsSelfPlay(groups[i])) ambiguous.insert(groups[i].folder);
  }
  for (const std::string& folder : ambiguous) folders.erase(folder);
  return folders;
}

std::vector<FolderPair> CompareFolders(absl::Span<const RunGroup> groups,
                                       const Comparison& comparison) {
  const auto folders = TasksOf(groups, comparison);
  std::vector<FolderPair> pairs;
  for (auto a = folders.begin(); a != folders.end(); ++a) {
    for (auto b = std::next(a); b != folders.end(); ++b) {
      FolderPair pair{a->first, b->first, {}, {}};
      Strata x, y;
      for (const auto& [environment, finals] : a->second) {
        const auto other = b->second.find(environment);
        if (other == b->second.end()) continue;
        pair.environments.push_back(environment);
        x.push_back(finals), y.push_back(other->second);
      }
      if (x.size() < 2 || x.size() != a->second.size() || y.size() != b->second.size()) continue;
      pair.improvement = ImprovementOf(x, y);
      pairs.push_back(std::move(pair));
    }
  }
  return pairs;
}

OrderedJson EstimateJson(const Estimate& estimate) {
  OrderedJson json;
  json["value"] = estimate.value;
  json["interval"] = nullptr;
  if (estimate.interval.has_value()) {
    json["interval"] = {estimate.interval->low, estimate.interval->high};
  }
  return json;
}

template <typename T>
OrderedJson OrNull(const std::optional<T>& value) {
  return value.has_value() ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson RunJson(const RunRecord& run, const GroupSummary& summary) {
  OrderedJson json;
  json["path"] = run.path;
  json["seed"] = run.config.seed;
  json["state"] = run.state;
  json["env_steps"] = run.env_steps;
  json["wall_seconds"] = run.wall_seconds;
  json["git_commit"] = run.git_commit;
  if (run.evaluations.empty()) return json;
  json["final_return"] = FinalReturn(run);
  json["best_return"] = BestReturn(run);
  if (summary.target.has_value()) {
    json["env_steps_to_target"] =
        OrNull(StepsToTarget(run, summary.target->target, summary.target->patience));
  }
  return json;
}

OrderedJson GroupJson(const RunGroup& group, const GroupSummary& summary) {
  OrderedJson json;
  json["group"] = group.label;
  json["environment"] = EnvironmentOf(group.runs[0].config);
  for (const RunRecord& run : group.runs) json["runs"].push_back(RunJson(run, summary));
  if (summary.finals.empty()) return json;
  json["final_iqm"] = EstimateJson(summary.final_iqm);
  json["final_mean"] = summary.final_mean;
  json["final_median"] = summary.final_median;
  json["best_iqm"] = EstimateJson(summary.best_iqm);
  if (!summary.target.has_value()) return json;
  json["target_return"] = summary.target->target;
  json["patience"] = summary.target->patience;
  json["num_solved"] = summary.target->num_solved;
  json["median_env_steps_to_target"] = OrNull(summary.target->median);
  json["optimality_gap"] = summary.target->gap;
  return json;
}

}  // namespace

Comparison CompareGroups(absl::Span<const RunGroup> groups, std::optional<double> target) {
  Comparison comparison;
  for (const RunGroup& group : groups) comparison.groups.push_back(Summarize(group, target));
  std::set<std::string> seen;  // environments
  for (size_t a = 0; a < groups.size(); ++a) {
    if (comparison.groups[a].finals.empty() || IsSelfPlay(groups[a])) continue;
    const std::string environment = EnvironmentOf(groups[a].runs[0].config);
    const bool is_first = seen.insert(environment).second;
    if (!is_first && groups.size() > kMostForAllPairs) continue;
    for (size_t b = a + 1; b < groups.size(); ++b) {
      if (comparison.groups[b].finals.empty()) continue;
      if (EnvironmentOf(groups[b].runs[0].config) != environment) continue;
      comparison.pairs.push_back(ComparePair(groups, comparison, a, b));
    }
  }
  if (EnvironmentsOf(groups).size() > 1) {
    comparison.left_out.push_back(
        "groups on different environments, whose returns have no common scale");
  }
  if (std::any_of(groups.begin(), groups.end(), IsSelfPlay)) {
    comparison.left_out.push_back(
        "groups that learn by self-play, whose returns are those of player 0, no measure of "
        "strength: see lzero match and lzero eval --grade");
  }
  if (groups.size() > kMostForAllPairs) {
    comparison.left_out.push_back(
        absl::StrCat("all pairs, as there are more than ", kMostForAllPairs,
                     " groups; each is compared with the first one on its environment"));
  }
  comparison.folders = CompareFolders(groups, comparison);
  return comparison;
}

std::string ComparisonJson(const CollectedRuns& runs, const Comparison& comparison) {
  OrderedJson json;
  json["confidence"] = kConfidence;
  for (size_t i = 0; i < runs.groups.size(); ++i) {
    json["groups"].push_back(GroupJson(runs.groups[i], comparison.groups[i]));
  }
  json["pairs"] = OrderedJson::array();
  for (const PairSummary& pair : comparison.pairs) {
    OrderedJson row;
    row["a"] = runs.groups[pair.a].label;
    row["b"] = runs.groups[pair.b].label;
    row["probability_of_improvement"] = EstimateJson(pair.improvement);
    row["num_shared_seeds"] = pair.differences.size();
    row["paired_difference"] = nullptr;
    if (pair.paired.has_value()) row["paired_difference"] = EstimateJson(*pair.paired);
    json["pairs"].push_back(std::move(row));
  }
  json["folders"] = OrderedJson::array();
  for (const FolderPair& pair : comparison.folders) {
    json["folders"].push_back({{"a", pair.a},
                               {"b", pair.b},
                               {"environments", pair.environments},
                               {"probability_of_improvement", EstimateJson(pair.improvement)}});
  }
  json["not_compared"] = comparison.left_out;
  json["skipped"] = OrderedJson::array();
  for (const SkippedRun& run : runs.skipped) {
    json["skipped"].push_back({{"path", run.path}, {"reason", run.reason}});
  }
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string FewRunsText(const GroupSummary& group) {
  if (HasInterval(group.finals.size())) return "";
  return absl::StrCat("final returns: ", PointsText(group.finals));
}

std::string FewRunsRule() {
  return absl::StrCat(
      "No interval for fewer than ", kFewestRunsForInterval,
      " runs, where a bootstrap is too narrow; the IQM of fewer than 4 is their mean");
}

std::string PointsText(absl::Span<const double> values) {
  return absl::StrJoin(values, ", ", [](std::string* text, double value) {
    absl::StrAppendFormat(text, "%.2f", value);
  });
}

const char* IqmName(size_t num_runs) { return num_runs < 4 ? "mean" : "IQM"; }

}  // namespace lzero
