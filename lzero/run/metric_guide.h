// What each number of a run means, in words: the names of metrics.jsonl and TensorBoard. Stateless,
// thread-safe.
#ifndef LZERO_RUN_METRIC_GUIDE_H_
#define LZERO_RUN_METRIC_GUIDE_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace lzero {

// Explains one metric ("loss/value", "open_loop/reward_3"), all of a group ("loss"), all with a
// name ("value_bias"), or everything (""). NotFound names the nearest one.
absl::StatusOr<std::string> ExplainMetric(absl::string_view name);

// Whether a metric of this name is explained.
bool IsExplainedMetric(absl::string_view name);

}  // namespace lzero

#endif  // LZERO_RUN_METRIC_GUIDE_H_
