// The cases of `lzero bench train`: lists swept against each other, checked, and what one update of
// a case computes. No torch, no clock.
#ifndef LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_CASES_H_
#define LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_CASES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "tools/bench/table/bench_output.h"

namespace lzero {

// Every combination is a case. If embed, layers, heads, batch and unroll are all empty, the sizes
// are those of the standard table.
struct BenchTrainOptions {
  std::vector<int64_t> embed;
  std::vector<int64_t> layers;
  std::vector<int64_t> heads;
  std::vector<int64_t> batch;
  std::vector<int64_t> unroll;
  std::vector<int64_t> context;
  std::vector<int64_t> support;
  std::vector<int64_t> actions;
  std::vector<std::string> encoders;
  std::vector<std::string> observations;  // "4", "3x64x64"
  std::vector<int64_t> threads;
  int64_t rounds = 5;  // of all cases, one after another; at least 5
  BenchOutputOptions output;
};

struct BenchTrainCase {
  int64_t embed = 64;
  int64_t layers = 2;
  int64_t heads = 2;
  int64_t batch = 256;
  int64_t unroll = 5;
  int64_t context = 8;
  int64_t support = 101;
  int64_t actions = 2;
  std::string encoder = "vector";
  std::string observation = "4";
  int64_t threads = 1;
};

// All cases, the last list fastest. InvalidArgument for what no config can have and for
// observations that the encoder does not take.
absl::StatusOr<std::vector<BenchTrainCase>> BenchTrainCases(const BenchTrainOptions& options);

// The lengths of the observation's axes; empty when the text is no such list.
std::vector<int64_t> ObservationShape(const BenchTrainCase& train);

// The config whose learner and replay buffer the case times.
ExperimentConfig BenchTrainConfig(const BenchTrainCase& train);

// Floating-point operations of one update in products with weight matrices and in convolutions:
// forward and both gradients of the sequences [batch, unroll]; forward alone of the target network
// (encodings of the next observations, and values of the bootstrap observations as sequences of one
// token). The first layer of the encoder has no gradient of its input. Attention, norms, losses and
// the optimiser are left out.
int64_t UpdateFlops(const BenchTrainCase& train);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_TABLE_BENCH_TRAIN_CASES_H_
