// The scores of runs as a page in Markdown, beside what others published: every run of every task,
// mean, median, interquartile mean and optimality gap with intervals, and the performance profile.
// Definitions are those of rliable [Agarwal et al. 2021]. ReadPublished blocks on the disk, the
// rest is arithmetic: equal runs give an equal page.
#ifndef LZERO_RESULTS_SCORE_PAGE_H_
#define LZERO_RESULTS_SCORE_PAGE_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/results/task_scores.h"

namespace lzero {

// What one publication measured, by task.
struct PublishedColumn {
  std::string name;
  std::map<std::string, double> measured;
};

// A YAML file of methods, each a map of tasks, in its order: "{TD-MPC2 at 100k: {TASK: 519}}".
// NotFound, or InvalidArgument with line and column.
absl::StatusOr<std::vector<PublishedColumn>> ReadPublished(const std::string& path);

// Tasks without a score are in the first table alone. Intervals are 95 % of the stratified
// bootstrap, 50,000 resamples, where every task has at least three runs.
std::string ScorePage(const ScoreSummary& summary, absl::Span<const PublishedColumn> published);

}  // namespace lzero

#endif  // LZERO_RESULTS_SCORE_PAGE_H_
