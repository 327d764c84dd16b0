// How far searches are from the same ones on another runner, summed over the roots of all searches.
// What is not finite in a search is not finite here either. Pure.
#ifndef LZERO_TOOLS_BENCH_TABLE_SEARCH_DIFFERENCES_H_
#define LZERO_TOOLS_BENCH_TABLE_SEARCH_DIFFERENCES_H_

#include <cstdint>

#include "lzero/mcts/search_request.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

class SearchDifferences {
 public:
  void Add(const SearchResult& got, const SearchResult& expected);

  // Largest errors of values relative to the largest value, and shares of all roots and visits.
  BenchCase Metrics() const;

 private:
  double value_error_ = 0.0;   // largest of the network's values of roots
  double search_error_ = 0.0;  // largest of the values that searches gave to roots
  double largest_value_ = 1.0;
  int64_t num_roots_ = 0;
  int64_t num_changed_roots_ = 0;    // any visit count differs
  int64_t num_changed_actions_ = 0;  // another most visited action
  int64_t num_visits_ = 0;
  int64_t num_moved_visits_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_SEARCH_DIFFERENCES_H_
