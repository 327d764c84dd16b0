// `--against PROGRAM`: two builds of the program measure the same cases in turn, case by case, so
// that what else the machine does slows both alike. Each measures in a process of its own. Blocks.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_TURNS_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_TURNS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// One JSON line a case, in the same order: of the least times of all turns, and of the medians of
// everything else that is compared.
struct BenchTurns {
  std::vector<std::string> now;
  std::vector<std::string> before;
};

// Runs `own` and `other` with the arguments of each case, in three turns of five rounds, or more
// when `rounds` is more; the one that went second goes first in the next turn. A table that is not
// in rounds has one turn. FailedPrecondition, with the command line and the last words of the
// program, where one refuses the arguments, or prints other cases than it was asked for.
absl::StatusOr<BenchTurns> MeasureInTurn(const BenchTable& table, const BenchGiven& given,
                                         const std::vector<BenchCase>& cases, int64_t rounds,
                                         const std::string& own, const std::string& other);

// A file that can be run, as opposed to one that holds an earlier run.
bool IsProgram(const std::string& path);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_TURNS_H_
