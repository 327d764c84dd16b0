// `lzero bench growth`: what a search costs does not depend on what came before it. One search of
// many simulations, the last hundred beside the first; and one endless episode, searches at its
// 10th, 100th, 1,000th and 10,000th step, with the memory of the process. `lzero bench unload`:
// engines loaded, searched and unloaded again and again, with the memory after each, that of the
// process and that of the device. Not tests: nothing fails here.
#ifndef LZERO_TOOLS_BENCH_BENCH_GROWTH_H_
#define LZERO_TOOLS_BENCH_BENCH_GROWTH_H_

#include <cstdint>
#include <string>
#include <vector>

#include "tools/bench/table/bench_output.h"

namespace lzero {

struct BenchGrowthOptions {
  std::vector<std::string> runners = {"packed"};
  int64_t embed = 64;
  int64_t batch = 8;
  int64_t simulations = 1000;     // of the one search
  int64_t episode_steps = 10000;  // of the one episode, at least 100
  int64_t rounds = 5;
  BenchOutputOptions output;
};

struct BenchUnloadOptions {
  std::string device = "cpu";
  std::vector<std::string> runners;  // empty: packed; on a CUDA device eager and cuda_graph
  std::vector<int64_t> embed = {64};
  std::string dtype = "fp32";
  int64_t threads = 1;  // of the step
  int64_t batch = 8;
  int64_t simulations = 25;
  int64_t cycles = 10;
  BenchOutputOptions output;
};

// 0; 2 with a message for cases that cannot be; 1 when an engine fails.
int BenchGrowth(const BenchGrowthOptions& options);
int BenchUnload(const BenchUnloadOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_GROWTH_H_
