// `lzero bench train`: times updates of the learner on batches that are sampled from a replay
// buffer of synthetic episodes, in interleaved rounds, and prints one JSON object a case and a
// short table.
#ifndef LZERO_TOOLS_BENCH_BENCH_TRAIN_H_
#define LZERO_TOOLS_BENCH_BENCH_TRAIN_H_

#include "tools/bench/table/bench_train_cases.h"

namespace lzero {

// 0; 2 with a message for cases that cannot be; 1 when an update fails, as for want of memory.
int BenchTrain(const BenchTrainOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_TRAIN_H_
