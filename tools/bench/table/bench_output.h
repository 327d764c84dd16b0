// Prints what a benchmark measured: one JSON object a case, a short table, and, beside a saved run
// (--against FILE), how the figures of each case have changed. Not a clock. Pure but for printing.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_OUTPUT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_OUTPUT_H_

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/base/stopwatch.h"

namespace lzero {

// Options that every benchmark has.
struct BenchOutputOptions {
  bool json_only = false;  // no table
  std::string against;     // file of an earlier run's output; "": none
};

// The cases of an earlier run, by what tells a case from others.
class BenchBaseline {
 public:
  // Reads the JSON lines of a file and leaves other lines out. An empty path is no baseline.
  // NotFound, or InvalidArgument with the line, for a file that holds no run of `lzero bench VERB`.
  static absl::StatusOr<BenchBaseline> Load(const std::string& path, const std::string& verb);

  // A line for each object with a case like it: earlier and new figure of each of its times, its
  // memory, or its errors beside eager, and their ratio (above 1: less now). Then how many have
  // none. Empty without a baseline.
  std::vector<std::string> Compare(const std::vector<std::string>& objects) const;

 private:
  bool is_given_ = false;
  std::map<std::string, std::string> objects_;  // by identity
};

// Says how far a benchmark is, on stderr and not more often than every two seconds.
class BenchProgress {
 public:
  void Show(const std::string& text);

 private:
  double last_time_ = MonotonicSeconds();
};

// What tells a case from others: its object without what was measured.
std::string BenchIdentity(const std::string& object);

void PrintBench(const std::vector<std::string>& objects, const std::string& table,
                const BenchBaseline& baseline, const BenchOutputOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_OUTPUT_H_
