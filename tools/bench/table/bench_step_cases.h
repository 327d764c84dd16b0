// The cases of `lzero bench step`: lists swept against each other, checked, and what one step of a
// case computes and reads. No torch, no clock.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_CASES_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "tools/bench/table/bench_output.h"

namespace lzero {

// Every combination is a case, but that runner packed alone has bf16. If embed, layers, heads and
// batch are all empty, the sizes are those of the standard table of the device; if runners, dtypes
// and threads are, each size is measured, on the CPU, with eager and packed in fp32 on one thread,
// and with packed in bf16 on two; on a CUDA device with eager and cuda_graph.
struct BenchStepOptions {
  std::string device = "cpu";
  std::vector<int64_t> embed;
  std::vector<int64_t> layers;
  std::vector<int64_t> heads;
  std::vector<int64_t> batch;
  std::vector<int64_t> context = {8};
  std::vector<int64_t> support = {101};
  std::vector<int64_t> actions = {6};
  std::vector<std::string> runners;
  std::vector<std::string> dtypes;
  std::vector<int64_t> threads;
  int64_t rounds = 5;  // of all cases, one after another; at least 5
  BenchOutputOptions output;
};

struct BenchStepCase {
  int64_t embed = 64;
  int64_t layers = 2;
  int64_t heads = 2;
  int64_t batch = 8;
  int64_t context = 8;
  int64_t support = 101;
  int64_t actions = 6;
  std::string device = "cpu";
  std::string runner = "eager";
  std::string dtype = "fp32";
  int64_t threads = 1;
};

// All cases, the last list fastest. InvalidArgument for a size that no model can have, and for a
// device, runner or dtype that no config can have, together or alone.
absl::StatusOr<std::vector<BenchStepCase>> BenchStepCases(const BenchStepOptions& options);

// The world model of a case.
ModelConfig BenchStepModel(const BenchStepCase& step);

// How its runner is asked for: graphs are required of a runner that is made of them, and off for
// eager, so that a case measures what it names.
InferenceConfig BenchStepInference(const BenchStepCase& step);

// Floating-point operations of the products with weight matrices in one step: two tokens through
// all blocks, four heads, for every environment. Attention is left out: at W = 8 it adds 2 %.
int64_t StepFlops(const BenchStepCase& step);

// Bytes of weight matrices that one step reads: each block twice, because the second token waits
// for the first, and each head once, whatever the batch is.
int64_t StepReadBytes(const BenchStepCase& step);

// Bytes of the weight matrices a step reads from: what has to fit a cache to be read from it.
int64_t StepWeightBytes(const BenchStepCase& step);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_STEP_CASES_H_
