// `lzero bench step`: times the recurrent step of every runner over a table of sizes, in
// interleaved rounds, and prints one JSON object a case and a short table.
#ifndef LZERO_TOOLS_BENCH_BENCH_STEP_H_
#define LZERO_TOOLS_BENCH_BENCH_STEP_H_

#include "tools/bench/table/bench_step_cases.h"

namespace lzero {

// 0; 2 with a message for cases that cannot be; 1 when a step fails, as for want of memory.
int BenchStep(const BenchStepOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_STEP_H_
