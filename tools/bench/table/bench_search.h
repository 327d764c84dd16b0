// `lzero bench search`: how long the tree work of a search takes (select, expand, back up), without
// the model: the fastest search of each round, then the minimum and the median over rounds. Prints
// one JSON object a case, then a table, and the signature of the search. Not a test: nothing fails
// by being slow.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_SEARCH_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_SEARCH_H_

#include <string>
#include <vector>

#include "tools/bench/table/bench_output.h"

namespace lzero {

// Lists are swept.
struct SearchBenchOptions {
  std::vector<int> actions = {2, 6, 18};
  std::vector<int> batches = {8, 256};
  std::vector<int> simulations = {25, 50, 200};
  std::vector<std::string> policies = {"puct", "gumbel"};
  int rounds = 7;  // of all cases, one after another; at least 5
  BenchOutputOptions output;
};

// 0; 2 with a message for sizes that cannot be searched.
int BenchSearch(const SearchBenchOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_SEARCH_H_
