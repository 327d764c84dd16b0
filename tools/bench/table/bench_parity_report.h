// What `lzero bench parity` finds and prints: how far searches are from the same ones on eager. A
// figure of what is not finite is not finite either, and null in JSON. Pure functions.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_PARITY_REPORT_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_PARITY_REPORT_H_

#include <cstdint>
#include <string>

#include "lzero/mcts/search_request.h"
#include "tools/bench/table/bench_figures.h"

namespace lzero {

// Sums over the roots of all searches.
struct ParityDifferences {
  double value_error = 0.0;   // largest of the network's values of roots
  double search_error = 0.0;  // largest of the values that searches gave to roots
  double largest_value = 1.0;
  int64_t num_roots = 0;
  int64_t num_changed_roots = 0;    // any visit count differs
  int64_t num_changed_actions = 0;  // another most visited action
  int64_t num_visits = 0;
  int64_t num_moved_visits = 0;
};

void AddDifferences(const SearchResult& got, const SearchResult& expected, ParityDifferences* sums);

// `engine_case` as EngineCaseJson.
std::string ParityJson(const std::string& engine_case, int64_t searches,
                       const ParityDifferences& sums, const BenchConditions& conditions);

// The line of the table.
std::string ParityLine(const std::string& runner, const std::string& dtype,
                       const ParityDifferences& sums);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_PARITY_REPORT_H_
