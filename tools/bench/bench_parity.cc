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
  static absl::StatusOr<std::unique_ptr<BenchSubject>> Create(const BenchCase& bench) {
    auto subject = std::make_unique<ParitySubject>();
    subject->num_searches_ = bench.Int("searches");
    BenchCase eager = bench;
    eager.Set("runner", "eager");
    eager.Set("dtype", "fp32");
    LZ_ASSIGN_OR_RETURN(subject->eager_, BenchEngine::Create(eager));
    LZ_ASSIGN_OR_RETURN(subject->other_, BenchEngine::Create(bench));
    return subject;
  }

  absl::Status RunRound(std::vector<double>* /*seconds*/) override {
    for (int64_t i = 0; i < num_searches_; ++i) {
      for (BenchEngine* engine : {eager_.get(), other_.get()}) {
        engine->BeginEpisodes(static_cast<uint64_t>(i));
        LZ_RETURN_IF_ERROR(engine->RunSearch());
      }
      differences_.Add(other_->result(), eager_->result());
    }
    return absl::OkStatus();
  }

  BenchCase Metrics() const override { return differences_.Metrics(); }

 private:
  int64_t num_searches_ = 0;
  std::unique_ptr<BenchEngine> eager_;
  std::unique_ptr<BenchEngine> other_;
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
  table.make = ParitySubject::Create;
  return table;
}

}  // namespace lzero
