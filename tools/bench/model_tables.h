// The benchmarks of the model, each a table in the file of its name: bench_step.cc, bench_train.cc
// and so on. What is timed there blocks; one thread.
#ifndef LZERO_TOOLS_BENCH_MODEL_TABLES_H_
#define LZERO_TOOLS_BENCH_MODEL_TABLES_H_

#include "tools/bench/table/bench_table.h"

namespace lzero {

// The recurrent step of a runner.
BenchTable StepTable();
// One update of the learner on a batch sampled from a replay buffer of synthetic episodes.
BenchTable TrainTable();
// Whole searches of an engine as a collector runs them, network and tree.
BenchTable EngineSearchTable();
// An engine loaded, searched and unloaded again and again: memory after each cycle.
BenchTable UnloadTable();
// The same searches on a runner as on eager: how far values are apart, how many visits differ.
BenchTable ParityTable();

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_MODEL_TABLES_H_
