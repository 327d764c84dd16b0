// Statistics of a few numbers: location, spread, quantiles. Definitions are those of NumPy and
// rliable. Pure functions, thread-safe.
#ifndef LZERO_STATISTICS_STATISTICS_H_
#define LZERO_STATISTICS_STATISTICS_H_

#include <cstdint>
#include <optional>

#include "absl/types/span.h"

namespace lzero {

// Statistics of `values` [n], float64: the caller must give at least one value.
double Mean(absl::Span<const double> values);
// The middle value, or the mean of the two middle ones.
double Median(absl::Span<const double> values);
// The same where nullopt means infinitely large, as the steps to a goal that was never reached;
// nullopt when the median is so.
std::optional<double> MedianOrNever(absl::Span<const std::optional<int64_t>> values);
// Sample standard deviation (n - 1); 0 for one value.
double StandardDeviation(absl::Span<const double> values);
// Interquartile mean: the mean after the floor(n / 4) smallest and largest values are left out.
// [Agarwal et al. 2021, Deep RL at the edge of the statistical precipice]
double InterquartileMean(absl::Span<const double> values);
// By how much the values miss `target` on average; what is above it does not make up for what is
// below: target - mean(min(value, target)). [Agarwal et al. 2021]
double OptimalityGap(absl::Span<const double> values, double target);
// Value at `fraction` (0 .. 1) of the sorted values, linear between neighbours.
double Quantile(absl::Span<const double> values, double fraction);

struct Interval {
  double low = 0.0;
  double high = 0.0;
};

}  // namespace lzero

#endif  // LZERO_STATISTICS_STATISTICS_H_
