// `lzero bench step`: times the recurrent step of every runner over a table of sizes, in
// interleaved rounds, and prints one JSON object a case and a short table.
#ifndef LZERO_TOOLS_BENCH_STEP_H_
#define LZERO_TOOLS_BENCH_STEP_H_

#include <cstdint>
#include <string>
#include <vector>

namespace lzero {

// Lists are swept against each other; all empty: the standard table of sizes.
struct BenchStepOptions {
  std::vector<int64_t> embed;
  std::vector<int64_t> layers;
  std::vector<int64_t> heads;
  std::vector<int64_t> batch;
  int64_t context = 8;
  int64_t support = 101;
  int64_t actions = 6;
  std::vector<std::string> runners = {"eager"};
  std::vector<int64_t> threads = {1};
  int64_t rounds = 5;
  bool json_only = false;  // no table at the end
};

// 0, or 2 with a message for sizes that do not fit together.
int BenchStep(const BenchStepOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_STEP_H_
