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
#include "tools/bench/table/bench_step_cases.h"

namespace lzero {

// Sizes of the step as `bench step` has them, and of the search above it.
struct BenchEngineCase {
  BenchStepCase step;
  std::string policy = "puct";
  int64_t simulations = 25;
};

class BenchEngine {
 public:
  // Random weights that all matter and random full pasts, the same for every case of a size. Errors
  // as UniZeroInference and BuildSearcher.
  static absl::StatusOr<std::unique_ptr<BenchEngine>> Create(const BenchEngineCase& bench);

  // One environment step later: roots continue the contexts of the search before, then a whole
  // search. `model` stands between the search and the engine; nullptr: the engine itself.
  absl::Status RunSearch(InferenceModel* model = nullptr);

  // Other episodes from now on, a function of `seed`: the next search rebuilds its roots.
  void BeginEpisodes(uint64_t seed);

  UniZeroInference& inference() { return *inference_; }
  const SearchResult& result() const { return result_; }  // of the last search
  const BenchEngineCase& bench() const { return bench_; }
  int64_t num_searches() const { return num_searches_; }

 private:
  BenchEngine(const BenchEngineCase& bench, std::unique_ptr<UniZeroInference> inference,
              std::unique_ptr<Searcher> searcher);

  BenchEngineCase bench_;
  std::unique_ptr<UniZeroInference> inference_;
  std::unique_ptr<Searcher> searcher_;
  std::vector<float> observations_;  // [B, P + 1, observation size]
  std::vector<int32_t> actions_;     // [B, P]
  std::vector<uint8_t> legal_;
  std::vector<Root> roots_;
  SearchResult result_;
  int64_t num_searches_ = 0;
};

// What all engine benchmarks name of a case, as JSON members in one text without braces:
// "device":"cpu","runner":"packed","embed":64,...
std::string EngineCaseJson(const BenchEngineCase& bench);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_ENGINE_H_
