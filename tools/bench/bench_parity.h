// `lzero bench parity`: the same searches on other runners as on eager: how far values are apart,
// and how many visit counts differ. Not a test: nothing fails here.
#ifndef LZERO_TOOLS_BENCH_BENCH_PARITY_H_
#define LZERO_TOOLS_BENCH_BENCH_PARITY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/table/bench_output.h"

namespace lzero {

struct BenchParityOptions {
  std::string device = "cpu";
  std::vector<std::string> runners;  // empty: packed, in fp32 and bf16; on a CUDA device cuda_graph
  int64_t embed = 64;
  int64_t batch = 8;
  int64_t actions = 6;
  int64_t simulations = 25;
  int64_t searches = 100;
  BenchOutputOptions output;
};

// 0; 2 with a message for cases that cannot be; 1 when an engine fails.
int BenchParity(const BenchParityOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_PARITY_H_
