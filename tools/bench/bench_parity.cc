// `lzero bench parity`: the same searches on other runners as on eager: how far values are apart,
// and how many visit counts differ. Not a test: nothing fails here; gpu_table.py judges it.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/model_cases.h"
#include "tools/bench/table/search_differences.h"

namespace lzero {
namespace {

class ParitySubject final : public BenchSubject {
 public:
  using BenchSubject::BenchSubject;

  absl::Status RunRound(std::vector<double>* /*seconds*/) override {
    BenchCase eager_case = bench_;
    eager_case.Set("runner", "eager");
    eager_case.Set("dtype", "fp32");
    LZ_ASSIGN_OR_RETURN(const auto eager, BenchEngine::Create(eager_case));
    LZ_ASSIGN_OR_RETURN(const auto other, BenchEngine::Create(bench_));
    for (int64_t i = 0; i < bench_.Int("searches"); ++i) {
      for (BenchEngine* engine : {eager.get(), other.get()}) {
        engine->BeginEpisodes(static_cast<uint64_t>(i));
        LZ_RETURN_IF_ERROR(engine->RunSearch());
      }
      differences_.Add(other->result(), eager->result());
    }
    return absl::OkStatus();
  }

  BenchCase Metrics() const override { return differences_.Metrics(); }

 private:
  SearchDifferences differences_;
};

}  // namespace

BenchTable ParityTable() {
  BenchTable table;
  table.verb = "parity";
  table.rounds = 0;
  table.axes = EngineAxes("packed", "25");
  table.axes.push_back({"searches", "Searches of B roots each", "100", 100000});
  table.presets = {{"cpu", "runner dtype", "runner dtype", {"packed fp32", "packed bf16"}},
                   {"cuda", "runner", "runner", {"cuda_graph"}}};
  table.check = CheckStepCase;
  table.make = MakeSubject<ParitySubject>;
  return table;
}

}  // namespace lzero
