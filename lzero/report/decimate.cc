#include "lzero/report/decimate.h"

#include <algorithm>
#include <utility>

#include "lzero/base/check.h"

namespace lzero {

MetricSeries Decimate(const MetricSeries& series, int num_columns) {
  LZ_CHECK(num_columns > 0, "columns ", num_columns);
  const std::vector<double>&x = series.env_steps, &y = series.values;
  if (x.size() <= 2 * static_cast<size_t>(num_columns)) return series;
  const double begin_x = *std::min_element(x.begin(), x.end());
  const double width = *std::max_element(x.begin(), x.end()) - begin_x;
  const double scale = width > 0.0 ? num_columns / width : 0.0;
  const auto column_of = [&](size_t i) {
    return std::min(num_columns - 1, static_cast<int>((x[i] - begin_x) * scale));
  };
  MetricSeries kept;
  for (size_t begin = 0, end = 0; begin < x.size(); begin = end) {
    size_t low = begin, high = begin;
    for (end = begin; end < x.size() && column_of(end) == column_of(begin); ++end) {
      if (y[end] < y[low]) low = end;
      if (y[end] > y[high]) high = end;
    }
    for (const size_t i : {std::min(low, high), std::max(low, high)}) {
      kept.env_steps.push_back(x[i]);
      kept.values.push_back(y[i]);
      if (low == high) break;  // one point is both
    }
  }
  return kept;
}

}  // namespace lzero
