// A whole engine under a search, as a collector has it, for benchmarks: model, cache, runner, tree
// and roots of endless episodes. Not a clock. Belongs to one thread.
#ifndef LZERO_TOOLS_BENCH_BENCH_ENGINE_H_
#define LZERO_TOOLS_BENCH_BENCH_ENGINE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/family/unizero/unizero_inference.h"
#include "lzero/mcts/searcher.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

// The axes of a step, then policy and sims. `runner`, `sims`: their defaults.
std::vector<BenchAxis> EngineAxes(const std::string& runner, const std::string& sims);

class BenchEngine {
 public:
  // A value for each of EngineAxes. Random weights that all matter and random full pasts, the same
  // for every case of a size. Errors as UniZeroInference and BuildSearcher.
  static absl::StatusOr<std::unique_ptr<BenchEngine>> Create(const BenchCase& bench);

  // One environment step later: roots continue the contexts of the search before, then a whole
  // search.
  absl::Status RunSearch();

  // Other episodes from now on, a function of `seed`: the next search rebuilds its roots.
  void BeginEpisodes(uint64_t seed);

  UniZeroInference& inference() { return *inference_; }
  const SearchResult& result() const { return result_; }  // of the last search

 private:
  BenchEngine(const EngineOptions& options, std::unique_ptr<UniZeroInference> inference,
              std::unique_ptr<Searcher> searcher);

  const int64_t num_envs_, num_actions_, num_past_;
  std::unique_ptr<UniZeroInference> inference_;
  std::unique_ptr<Searcher> searcher_;
  std::vector<float> observations_;  // [B, P + 1, observation size]
  std::vector<int32_t> actions_;     // [B, P]
  std::vector<uint8_t> legal_;
  std::vector<Root> roots_;
  SearchResult result_;
  int64_t num_searches_ = 0;
};

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_ENGINE_H_
