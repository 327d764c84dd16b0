// One agent against another, by the scores of their runs. Definitions are those of rliable. Pure
// functions but for the random stream. The caller must give a run for every stratum.
// [Agarwal et al. 2021, Deep RL at the edge of the statistical precipice]
#ifndef LZERO_STATISTICS_COMPARISON_H_
#define LZERO_STATISTICS_COMPARISON_H_

#include <vector>

#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/statistics/bootstrap.h"

namespace lzero {

// How often a run of `x` is better than one of `y` on the same task, ties counted half, mean over
// the tasks: Mann-Whitney's U / (n m). Both have a stratum a task, in the same order.
double ProbabilityOfImprovement(const Strata& x, const Strata& y);

// Its bootstrap interval: the runs of each side and task are drawn by themselves.
Interval ProbabilityOfImprovementInterval(const Strata& x, const Strata& y, double confidence,
                                          int num_resamples, RandomStream& random);

// The share of all runs with a score above each of `thresholds` [t]; [t], 0 .. 1.
std::vector<double> PerformanceProfile(const Strata& scores, absl::Span<const double> thresholds);

}  // namespace lzero

#endif  // LZERO_STATISTICS_COMPARISON_H_
