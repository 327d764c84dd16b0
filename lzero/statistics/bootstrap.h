// Percentile bootstrap: how far a statistic moves when the runs are drawn again. Results depend on
// the arguments and the random stream alone. One thread a stream. [Efron 1979]
#ifndef LZERO_STATISTICS_BOOTSTRAP_H_
#define LZERO_STATISTICS_BOOTSTRAP_H_

#include <functional>
#include <vector>

#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/statistics/statistics.h"

namespace lzero {

// Scores of runs in strata that are drawn from one by one: strata[task][run], float64. Strata may
// differ in size; none is empty.
using Strata = std::vector<std::vector<double>>;
using StrataStatistic = std::function<double(const Strata&)>;
using Statistic = std::function<double(absl::Span<const double>)>;

// Fewer runs than this give an interval that is too narrow to be printed.
inline constexpr int kFewestRunsForInterval = 5;

// The mean of each stratum, and the runs of all of them one after another.
std::vector<double> StratumMeans(const Strata& strata);
std::vector<double> PooledRuns(const Strata& strata);

// The central `confidence` (0 .. 1) of `statistic` over `num_resamples` samples. In each, every
// stratum is drawn anew with replacement, in its own size: the stratified bootstrap of rliable.
// Draws stratum by stratum, run by run.
Interval StratifiedInterval(const Strata& strata, const StrataStatistic& statistic,
                            double confidence, int num_resamples, RandomStream& random);

// The same where the strata themselves are a sample, as tasks are of all that there could be: each
// resample draws as many strata with replacement, then the runs in each.
Interval NestedInterval(const Strata& strata, const StrataStatistic& statistic, double confidence,
                        int num_resamples, RandomStream& random);

// The same as StratifiedInterval of one stratum.
Interval BootstrapInterval(absl::Span<const double> values, const Statistic& statistic,
                           double confidence, int num_resamples, RandomStream& random);

}  // namespace lzero

#endif  // LZERO_STATISTICS_BOOTSTRAP_H_
