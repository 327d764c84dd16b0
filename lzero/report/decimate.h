// Fewer points that draw the same line: the lowest and the highest of each pixel column. Pure
// functions.
#ifndef LZERO_REPORT_DECIMATE_H_
#define LZERO_REPORT_DECIMATE_H_

#include "lzero/results/metrics_reader.h"

namespace lzero {

// `series` with at most two points in each of `num_columns` equal parts of its range of env steps,
// in the order of the series; as it is where it has no more than that.
MetricSeries Decimate(const MetricSeries& series, int num_columns);

}  // namespace lzero

#endif  // LZERO_REPORT_DECIMATE_H_
