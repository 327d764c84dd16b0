// `lzero bench search --runner ...`: whole searches of an engine as a collector runs them, network
// and tree, on any device: time of a search divided by its simulations. Prints one JSON object a
// case, then a table. Tree work alone is bench_search.h.
#ifndef LZERO_TOOLS_BENCH_BENCH_ENGINE_SEARCH_H_
#define LZERO_TOOLS_BENCH_BENCH_ENGINE_SEARCH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/table/bench_step_cases.h"

namespace lzero {

// Sizes, device and runners as `bench step` has them; lists are swept.
struct BenchEngineSearchOptions {
  BenchStepOptions step;
  std::vector<int64_t> simulations = {50};
  std::vector<std::string> policies = {"puct"};
};

// 0; 2 with a message for cases that cannot be; 1 when an engine fails.
int BenchEngineSearch(const BenchEngineSearchOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_ENGINE_SEARCH_H_
