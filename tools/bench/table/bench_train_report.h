// What `lzero bench train` prints about measured cases: one JSON object a case, and the short
// table. Pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_REPORT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_REPORT_H_

#include <string>
#include <vector>

#include "tools/bench/table/bench_figures.h"
#include "tools/bench/table/bench_train_cases.h"

namespace lzero {

struct BenchTrainResult {
  BenchTrainCase train;
  // Of every update of all rounds: sampling of its batch, and both together.
  std::vector<double> sample_seconds;
  std::vector<double> seconds;
  double peak_gflops = 0.0;  // of as many threads as the case uses
};

// One line without its end. gflops are those of the fastest update; the share of sampling is that
// of the medians.
std::string BenchTrainJson(const BenchTrainResult& result, const BenchConditions& conditions);

// The machine's peak for each number of threads, then a line a case.
std::string BenchTrainTable(const std::vector<BenchTrainResult>& results);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_REPORT_H_
