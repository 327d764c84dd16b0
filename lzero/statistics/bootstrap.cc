#include "lzero/statistics/bootstrap.h"

#include "lzero/base/check.h"

namespace lzero {

Interval StratifiedInterval(const Strata& strata, const StrataStatistic& statistic,
                            double confidence, int num_resamples, RandomStream& random) {
  LZ_CHECK(!strata.empty() && num_resamples > 0, "bootstrap of no values or no resamples");
  LZ_CHECK(confidence > 0.0 && confidence < 1.0, "confidence ", confidence);
  std::vector<double> statistics;
  Strata resample = strata;
  for (int i = 0; i < num_resamples; ++i) {
    for (size_t task = 0; task < strata.size(); ++task) {
      const auto num_runs = static_cast<int64_t>(strata[task].size());
      for (double& value : resample[task]) {
        value = strata[task][static_cast<size_t>(random.UniformInt(num_runs))];
      }
    }
    statistics.push_back(statistic(resample));
  }
  const double tail = (1.0 - confidence) / 2.0;
  return {Quantile(statistics, tail), Quantile(statistics, 1.0 - tail)};
}

Interval BootstrapInterval(absl::Span<const double> values, const Statistic& statistic,
                           double confidence, int num_resamples, RandomStream& random) {
  LZ_CHECK(!values.empty(), "bootstrap of no values or no resamples");
  return StratifiedInterval(
      {{values.begin(), values.end()}}, [&](const Strata& strata) { return statistic(strata[0]); },
      confidence, num_resamples, random);
}

}  // namespace lzero
