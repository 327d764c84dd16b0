// `lzero bench parity`: the same searches on the packed runner as on eager, in fp32 and in bf16:
// how far values are apart, and how many visit counts differ. Not a test: nothing fails here.
#ifndef LZERO_TOOLS_BENCH_PARITY_H_
#define LZERO_TOOLS_BENCH_PARITY_H_

#include <cstdint>

#include "tools/bench_output.h"

namespace lzero {

struct BenchParityOptions {
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

#endif  // LZERO_TOOLS_BENCH_PARITY_H_
