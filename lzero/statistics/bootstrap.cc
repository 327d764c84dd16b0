#include "lzero/statistics/bootstrap.h"

#include "lzero/base/check.h"

namespace lzero {

namespace {

// One of the values.
template <typename T>
T Drawn(const std::vector<T>& values, RandomStream& random) {
  return values[static_cast<size_t>(random.UniformInt(static_cast<int64_t>(values.size())))];
}

Interval Resampled(const Strata& strata, const StrataStatistic& statistic, bool draws_strata,
                   double confidence, int num_resamples, RandomStream& random) {
  LZ_CHECK(!strata.empty() && num_resamples > 0, "bootstrap of no values or no resamples");
  LZ_CHECK(confidence > 0.0 && confidence < 1.0, "confidence ", confidence);
  std::vector<double> statistics;
  for (int i = 0; i < num_resamples; ++i) {
    Strata resample = strata;
    for (std::vector<double>& stratum : resample) {
      if (draws_strata) stratum = Drawn(strata, random);
      const std::vector<double> runs = stratum;
      for (double& value : stratum) value = Drawn(runs, random);
    }
    statistics.push_back(statistic(resample));
  }
  const double tail = (1.0 - confidence) / 2.0;
  return {Quantile(statistics, tail), Quantile(statistics, 1.0 - tail)};
}

}  // namespace

std::vector<double> StratumMeans(const Strata& strata) {
  std::vector<double> means;
  for (const std::vector<double>& runs : strata) means.push_back(Mean(runs));
  return means;
}

std::vector<double> PooledRuns(const Strata& strata) {
  std::vector<double> all;
  for (const std::vector<double>& runs : strata) all.insert(all.end(), runs.begin(), runs.end());
  return all;
}

Interval StratifiedInterval(const Strata& strata, const StrataStatistic& statistic,
                            double confidence, int num_resamples, RandomStream& random) {
  return Resampled(strata, statistic, /*draws_strata=*/false, confidence, num_resamples, random);
}

Interval NestedInterval(const Strata& strata, const StrataStatistic& statistic, double confidence,
                        int num_resamples, RandomStream& random) {
  return Resampled(strata, statistic, /*draws_strata=*/true, confidence, num_resamples, random);
}

Interval BootstrapInterval(absl::Span<const double> values, const Statistic& statistic,
                           double confidence, int num_resamples, RandomStream& random) {
  LZ_CHECK(!values.empty(), "bootstrap of no values or no resamples");
  return StratifiedInterval(
      {{values.begin(), values.end()}}, [&](const Strata& strata) { return statistic(strata[0]); },
      confidence, num_resamples, random);
}

}  // namespace lzero
