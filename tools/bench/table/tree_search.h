// `lzero bench search` without a runner: how long the tree work of a search takes (select, expand,
// back up), without the model: the fastest search of each round, less what its model costs. The
// objects carry the signature of the search. Not a test: nothing fails by being slow.
#ifndef LZERO_TOOLS_BENCH_TABLE_TREE_SEARCH_H_
#define LZERO_TOOLS_BENCH_TABLE_TREE_SEARCH_H_

#include "tools/bench/table/bench_table.h"

namespace lzero {

BenchTable TreeSearchTable();

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_TREE_SEARCH_H_
