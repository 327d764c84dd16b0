// The numbers of groups of runs and of pairs of groups: what `lzero compare` prints and a report
// shows, as JSON too. Intervals are 95 % bootstrap intervals with 50,000 resamples; below 5 runs
// there is none. Pure functions: equal runs give equal numbers.
#ifndef LZERO_RESULTS_GROUP_SUMMARY_H_
#define LZERO_RESULTS_GROUP_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/results/run_group.h"
#include "lzero/statistics/statistics.h"

namespace lzero {

struct Estimate {
  double value = 0.0;
  std::optional<Interval> interval;  // from 5 runs on
};

// How a group came to a return of `target` in `patience` evaluations in a row.
struct TargetSummary {
  double target = 0.0;
  int64_t patience = 1;
  std::vector<std::optional<int64_t>> env_steps;  // a run; nullopt: never
  int64_t num_solved = 0;
  std::optional<double> median;  // with those that never came there; nullopt: it is one of them
  double gap = 0.0;              // optimality gap of the final returns
};

// Scores of the runs that were evaluated, in the order of the runs.
struct GroupSummary {
  std::vector<double> finals;  // mean return of the last evaluation
  std::vector<double> bests;   // of the best one
  Estimate final_iqm, best_iqm;
  double final_mean = 0.0;
  double final_median = 0.0;
  std::optional<TargetSummary> target;  // where there is one
};

struct PairSummary {
  size_t a = 0, b = 0;              // groups
  Estimate improvement;             // how often a run of a ends better than one of b
  std::vector<double> differences;  // final a - b of the seeds that both have
  std::optional<Estimate> paired;   // their mean, from one shared seed on
};

// Two folders that hold one group for each of the same environments, two or more: a method against
// another over tasks.
struct FolderPair {
  std::string a, b;
  std::vector<std::string> environments;
  Estimate improvement;  // mean over the environments
};

struct Comparison {
  std::vector<GroupSummary> groups;
  std::vector<PairSummary> pairs;  // of groups on the same environment
  std::vector<FolderPair> folders;
  std::vector<std::string> left_out;  // what pairs are not compared, and why; a sentence each
};

// `target`: in place of each config's stop.target_return. Groups without an evaluated run have no
// numbers and are in no pair. With more than eight groups, each is compared with the first one on
// its environment alone: all pairs would be many to read and to compute.
Comparison CompareGroups(absl::Span<const RunGroup> groups, std::optional<double> target);

// One JSON object: groups with their runs, pairs, what is left out, skipped runs.
std::string ComparisonJson(const CollectedRuns& runs, const Comparison& comparison);

// The final returns of a group that is too small for intervals; "" of others.
std::string FewRunsText(const GroupSummary& group);
// Why it has none.
std::string FewRunsRule();

// "1.00, 2.50"
std::string PointsText(absl::Span<const double> values);

// The name of an interquartile mean of so many runs: where nothing is cut off it is the mean.
const char* IqmName(size_t num_runs);

}  // namespace lzero

#endif  // LZERO_RESULTS_GROUP_SUMMARY_H_
