#include "lzero/statistics/comparison.h"

#include "Eigen/Core"
#include "lzero/base/check.h"

namespace lzero {
namespace {

Eigen::Map<const Eigen::ArrayXd> AsArray(const std::vector<double>& values) {
  LZ_CHECK(!values.empty(), "a task without runs");
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

// U / (n m) of one task.
double ShareOfWins(const std::vector<double>& x, const std::vector<double>& y) {
  LZ_CHECK(!x.empty(), "a task without runs");
  const auto runs_of_y = AsArray(y);
  double wins = 0.0;
  for (const double score : x) {
    wins += static_cast<double>((runs_of_y < score).count()) +
            0.5 * static_cast<double>((runs_of_y == score).count());
  }
  return wins / static_cast<double>(x.size() * y.size());
}

}  // namespace

double ProbabilityOfImprovement(const Strata& x, const Strata& y) {
  LZ_CHECK(x.size() == y.size() && !x.empty(), "got ", x.size(), " and ", y.size(), " tasks");
  double sum = 0.0;
  for (size_t task = 0; task < x.size(); ++task) sum += ShareOfWins(x[task], y[task]);
  return sum / static_cast<double>(x.size());
}

Interval ProbabilityOfImprovementInterval(const Strata& x, const Strata& y, double confidence,
                                          int num_resamples, RandomStream& random) {
  LZ_CHECK(x.size() == y.size() && !x.empty(), "got ", x.size(), " and ", y.size(), " tasks");
  Strata both = x;
  both.insert(both.end(), y.begin(), y.end());
  const auto statistic = [&](const Strata& drawn) {
    double sum = 0.0;
    for (size_t task = 0; task < x.size(); ++task) {
      sum += ShareOfWins(drawn[task], drawn[x.size() + task]);
    }
    return sum / static_cast<double>(x.size());
  };
  return StratifiedInterval(both, statistic, confidence, num_resamples, random);
}

std::vector<double> PerformanceProfile(const Strata& scores, absl::Span<const double> thresholds) {
  std::vector<double> profile;
  for (const double threshold : thresholds) {
    Eigen::Index above = 0, runs = 0;
    for (const std::vector<double>& task : scores) {
      above += (AsArray(task) > threshold).count();
      runs += static_cast<Eigen::Index>(task.size());
    }
    profile.push_back(static_cast<double>(above) / static_cast<double>(runs));
  }
  return profile;
}

}  // namespace lzero
