// Measures the cases of a benchmark: all are prepared, then timed one after another in
// interleaved rounds, each round beside the machine's peaks. The result is one JSON object a case.
// Blocks; one caller at a time, or they measure each other.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_ROUNDS_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_ROUNDS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

struct BenchPeaks {
  double gflops = 0.0;
  double gbs = 0.0;
};

// What is measured on.
struct BenchMachine {
  std::string gpu = {};  // as its driver names it; empty where the CPU is measured
  // Measures a GPU, once a round. Empty: the peaks of the CPU, by a case's threads, dtype and
  // bytes.
  std::function<absl::StatusOr<BenchPeaks>()> measure_peaks = nullptr;
};

// One line for each case, without its end: its axes; the least and the median time; what its
// subject adds; gflops and gbs of the least time beside their peaks; the machine and its load.
// Errors are those of the subjects.
absl::StatusOr<std::vector<std::string>> MeasureCases(const BenchTable& table,
                                                      const std::vector<BenchCase>& cases,
                                                      int64_t rounds, const BenchMachine& machine);

// The factor from seconds to the unit of the table's times.
double UnitsPerSecond(const BenchTable& table);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_ROUNDS_H_
