// What a benchmark prints below its JSON lines: the short table, and how each case has changed
// beside another run of the same verb. Works on the lines alone. Pure but for reading a file.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// What all cases share on one line, then a row for each: the axes that differ and all that was
// measured; of speeds beside peaks also the limit that binds, the one whose work takes longer at
// its peak, and the share of it that was reached.
std::string BenchTableText(const BenchTable& table, const std::vector<std::string>& lines);

// The JSON lines of this verb in what a benchmark printed; other lines are left out.
// InvalidArgument, naming `source`, for a broken line and where there is none.
absl::StatusOr<std::vector<std::string>> FindBenchLines(const BenchTable& table,
                                                        absl::string_view text,
                                                        const std::string& source);

// What tells a case from others: the values of its axes, as JSON. An axis that the line lacks has
// its default.
std::string BenchIdentity(const BenchTable& table, const std::string& line);

// Whether less is better and two runs can be compared: times, memory, errors beside eager.
bool IsComparedMember(absl::string_view name);

// One line for each case that `earlier` has, too: "batch 8: us_min 40 -> 20 (0.50x), ...", the
// ratio being new/old. Then how many cases it lacks.
std::vector<std::string> CompareBenchLines(const BenchTable& table,
                                           const std::vector<std::string>& lines,
                                           const std::vector<std::string>& earlier);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_REPORT_H_
