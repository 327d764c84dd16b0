// Reads metrics.jsonl into one series a metric, in one pass over the file that keeps nothing else:
// a gigabyte takes about a second. Blocks on the disk; thread-safe.
#ifndef LZERO_RESULTS_METRICS_READER_H_
#define LZERO_RESULTS_METRICS_READER_H_

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

// The values [n] of one metric, float64, and the env steps [n] that they belong to, as in the file.
struct MetricSeries {
  std::vector<double> env_steps;
  std::vector<double> values;
};

using RunMetrics = std::map<std::string, MetricSeries>;

// The metrics of `run_dir` that `is_wanted`, which is asked once for each name. Values that are no
// number (null) are left out. A last line without its end, which is being written, is ignored.
// NotFound without a file; DataLoss, "path:line: ...", for a line that is no JSON object with
// env_steps.
absl::StatusOr<RunMetrics> ReadMetrics(const std::string& run_dir,
                                       const std::function<bool(absl::string_view)>& is_wanted);

}  // namespace lzero

#endif  // LZERO_RESULTS_METRICS_READER_H_
