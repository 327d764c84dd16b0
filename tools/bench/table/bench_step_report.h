// What `lzero bench step` prints about measured cases: one JSON object a case, and the short table.
// Pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_REPORT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_REPORT_H_

#include <string>
#include <vector>

#include "tools/bench/table/bench_figures.h"
#include "tools/bench/table/bench_step_cases.h"

namespace lzero {

struct BenchStepResult {
  BenchStepCase step;
  std::vector<double> seconds;  // of one step, one entry a round
  // Of as many threads as the case uses.
  double peak_gflops = 0.0;  // of the case's dtype
  double peak_gbs = 0.0;     // reading as many bytes as the case has weights
};

// One line without its end. gflops and gbs are those of the fastest round.
std::string BenchStepJson(const BenchStepResult& result, const BenchConditions& conditions);

// The machine's peaks, then a line a case: the share of both peaks that the fastest round reached,
// and which of the two binds: the one whose work takes longer at its peak.
std::string BenchStepTable(const std::vector<BenchStepResult>& results);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_REPORT_H_
