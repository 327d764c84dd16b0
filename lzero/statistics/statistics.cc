#include "lzero/statistics/statistics.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "Eigen/Core"
#include "lzero/base/check.h"

namespace lzero {
namespace {

Eigen::Map<const Eigen::ArrayXd> AsArray(absl::Span<const double> values) {
  return {values.data(), static_cast<Eigen::Index>(values.size())};
}

std::vector<double> Sorted(absl::Span<const double> values) {
  LZ_CHECK(!values.empty(), "statistics of no values");
  std::vector<double> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

}  // namespace

double Mean(absl::Span<const double> values) {
  LZ_CHECK(!values.empty(), "mean of no values");
  return AsArray(values).mean();
}

double Median(absl::Span<const double> values) { return Quantile(values, 0.5); }

std::optional<double> MedianOrNever(absl::Span<const std::optional<int64_t>> values) {
  LZ_CHECK(!values.empty(), "median of no values");
  std::vector<double> sorted;
  for (const auto& value : values) {
    if (value.has_value()) sorted.push_back(static_cast<double>(*value));
  }
  std::sort(sorted.begin(), sorted.end());
  // Those without a value come last.
  const size_t above = values.size() / 2, below = (values.size() - 1) / 2;
  if (above >= sorted.size()) return std::nullopt;
  return (sorted[below] + sorted[above]) / 2.0;
}

double StandardDeviation(absl::Span<const double> values) {
  const double mean = Mean(values);
  if (values.size() == 1) return 0.0;
  return std::sqrt((AsArray(values) - mean).square().sum() /
                   static_cast<double>(values.size() - 1));
}

double InterquartileMean(absl::Span<const double> values) {
  const std::vector<double> sorted = Sorted(values);
  const size_t cut = sorted.size() / 4;
  return Mean(absl::MakeConstSpan(sorted).subspan(cut, sorted.size() - 2 * cut));
}

double OptimalityGap(absl::Span<const double> values, double target) {
  LZ_CHECK(!values.empty(), "optimality gap of no values");
  return target - AsArray(values).min(target).mean();
}

double Quantile(absl::Span<const double> values, double fraction) {
  LZ_CHECK(fraction >= 0.0 && fraction <= 1.0, "fraction ", fraction);
  const std::vector<double> sorted = Sorted(values);
  const double position = fraction * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 == sorted.size()) return sorted[below];
  const double weight = position - static_cast<double>(below);
  return sorted[below] * (1.0 - weight) + sorted[below + 1] * weight;
}

}  // namespace lzero
