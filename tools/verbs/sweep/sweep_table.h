// What came out of a sweep, as text: a line for each run, a line for each combination. Pure
// function.
#ifndef LZERO_TOOLS_VERBS_SWEEP_SWEEP_TABLE_H_
#define LZERO_TOOLS_VERBS_SWEEP_SWEEP_TABLE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "lzero/run/training_state.h"

namespace lzero {

struct SweepResult {
  std::string cell;  // name of the combination
  int64_t seed = 0;
  std::optional<TrainingState> state;  // of a finished run; of any other: none
  std::string why_not;                 // "failed, see LOG" where there is no state
};

// The tables. Results of one combination follow each other. Without a target return the columns
// about solving are left out.
std::string SweepTable(absl::Span<const SweepResult> results, bool has_target);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_SWEEP_TABLE_H_
