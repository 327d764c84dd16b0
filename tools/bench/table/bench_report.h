// What a benchmark prints: a JSON line a case, the short table below, and how each case has changed
// beside an earlier run of the same verb, or beside another build of the program that measures the
// same cases in turn, so that what else the machine does slows both alike. MeasureInTurn blocks;
// the rest is pure.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// One JSON object without '\n'; numbers have five significant digits, large ones hundredths.
std::string BenchLine(const BenchCase& measured);

// What all cases share on one line, then a row for each: the axes that differ and all that was
// measured; of speeds beside peaks also the limit that binds, the one whose work takes longer at
// its peak, and the share of it that was reached.
std::string BenchTableText(const BenchTable& table, const std::vector<BenchCase>& measured);

// The cases of this verb in what a benchmark printed; lines that are no JSON are left out.
// InvalidArgument, naming `source`, for a broken line and where there is none.
absl::StatusOr<std::vector<BenchCase>> ParseBenchLines(const BenchTable& table,
                                                       absl::string_view text,
                                                       const std::string& source);

// One line for each case that `before` has, too: "batch 8: us_min 40 -> 20 (0.500x), ...", the
// ratio being new/old. Then how many cases it lacks. An axis that a case lacks has its default.
std::vector<std::string> CompareBenchCases(const BenchTable& table,
                                           const std::vector<BenchCase>& now,
                                           const std::vector<BenchCase>& before);

// The same cases in the same order, measured by two builds.
struct BenchTurns {
  std::vector<BenchCase> now;
  std::vector<BenchCase> before;
};

// Runs the programs `own` and `other` with the arguments of each case, in three turns of five
// rounds, or more when `rounds` is more; the one that went second goes first in the next turn. A
// table that is not in rounds has one turn. The results are the least times of all turns, and the
// medians of everything else that is compared. FailedPrecondition, with the command line and the
// last words of the program, where one refuses the arguments, or prints other cases than it was
// asked for.
absl::StatusOr<BenchTurns> MeasureInTurn(const BenchTable& table, const BenchGiven& given,
                                         const std::vector<BenchCase>& cases, int64_t rounds,
                                         const std::string& own, const std::string& other);

// A file that can be run, as opposed to one that holds an earlier run.
bool IsProgram(const std::string& path);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_
