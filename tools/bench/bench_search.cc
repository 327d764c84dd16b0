// `lzero bench search --runner ...`: whole searches of an engine, time divided by simulations.
// Tree work alone is table/tree_search.h. A simulation must not cost more because of what came
// before it: sweep --sims and --past to see it.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "lzero/base/status_macros.h"
#include "lzero/nn/threads.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

class EngineSearchSubject final : public BenchSubject {
 public:
  using BenchSubject::BenchSubject;

  // The first search rebuilds its roots, all others continue them.
  absl::Status Prepare() override {
    LZ_ASSIGN_OR_RETURN(device_, BenchDevice::Open(bench_.Text("device")));
    LZ_ASSIGN_OR_RETURN(engine_, BenchEngine::Create(bench_));
    for (int64_t i = 0; i < bench_.Int("past"); ++i) LZ_RETURN_IF_ERROR(engine_->RunSearch());
    return absl::OkStatus();
  }

  absl::Status RunRound(std::vector<double>* seconds) override {
    constexpr double kMeasuredSeconds = 0.05;
    constexpr int64_t kMinSearches = 2;
    SetTensorThreads(static_cast<int>(bench_.Int("threads")));
    LZ_ASSIGN_OR_RETURN(const double mean, TimeRuns(*device_, kMinSearches, kMeasuredSeconds,
                                                    [&] { return engine_->RunSearch(); }));
    seconds->push_back(mean / static_cast<double>(bench_.Int("sims")));
    return absl::OkStatus();
  }

  BenchCase Metrics() const override {
    return {{"cache_bytes", engine_->inference().cache().stats().bytes}};
  }

 private:
  const BenchDevice* device_ = nullptr;
  std::unique_ptr<BenchEngine> engine_;
};

}  // namespace

BenchTable EngineSearchTable() {
  BenchTable table;
  table.verb = "search";
  table.kind = "engine";
  table.unit = "us_per_sim";
  table.rounds = 7;
  table.axes = EngineAxes("packed", "50");
  table.axes.push_back(
      {"past", "Steps of the episode before the first that is timed", "2", 10000000});
  table.presets = StepPresets();
  table.is_left_out = LacksBf16;
  table.check = CheckStepCase;
  table.make = MakeSubject<EngineSearchSubject>;
  return table;
}

}  // namespace lzero
