// `lzero bench unload`: engines loaded, searched and unloaded again and again, with the memory of
// the process and of the device after each cycle. Not interleaved as elsewhere: the memory after a
// cycle is all that any runner left, so only cycles without another one between them show whether
// this one grows.
#include <memory>
#include <vector>

#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "tools/bench/bench_device.h"
#include "tools/bench/bench_engine.h"
#include "tools/bench/model_tables.h"
#include "tools/bench/table/model_cases.h"

namespace lzero {
namespace {

class UnloadSubject final : public BenchSubject {
 public:
  using BenchSubject::BenchSubject;

  // One cycle; all its times include waiting for the device.
  absl::Status RunRound(std::vector<double>* /*seconds*/) override {
    LZ_ASSIGN_OR_RETURN(const BenchDevice* device, BenchDevice::Open(bench_.Text("device")));
    const double start = MonotonicSeconds();
    LZ_ASSIGN_OR_RETURN(auto engine, BenchEngine::Create(bench_));
    LZ_RETURN_IF_ERROR(device->Wait());
    const double loaded = MonotonicSeconds();
    for (int i = 0; i < 2; ++i) LZ_RETURN_IF_ERROR(engine->RunSearch());
    LZ_RETURN_IF_ERROR(device->Wait());
    const double searched = MonotonicSeconds();
    const double loaded_mib = ResidentMebibytes();
    LZ_ASSIGN_OR_RETURN(const BenchDeviceMemory held, device->Memory());
    const double measured = MonotonicSeconds();
    engine.reset();
    const double unloaded = MonotonicSeconds();
    metrics_ = {{"load_ms", (loaded - start) * 1e3},
                {"search_ms", (searched - loaded) * 1e3},
                {"unload_ms", (unloaded - measured) * 1e3},
                {"loaded_mib", loaded_mib},
                {"resident_mib", ResidentMebibytes()}};
    if (device->is_cpu()) return absl::OkStatus();
    LZ_ASSIGN_OR_RETURN(const BenchDeviceMemory after, device->Memory());
    metrics_.Set("device_loaded_mib", held.used_mib);
    metrics_.Set("device_mib", after.used_mib);
    metrics_.Set("device_reserved_mib", after.reserved_mib);
    return absl::OkStatus();
  }

  BenchCase Metrics() const override { return metrics_; }

 private:
  static double ResidentMebibytes() {
    return static_cast<double>(ResidentBytes()) / static_cast<double>(1 << 20);
  }

  BenchCase metrics_;
};

}  // namespace

BenchTable UnloadTable() {
  BenchTable table;
  table.verb = "unload";
  table.rounds = 0;
  table.axes = EngineAxes("packed", "25");
  BenchAxis cycle = {"cycle", "Cycles", "10", 10000};
  cycle.counts_up = true;
  table.axes.push_back(cycle);
  table.presets = {{"cuda", "runner", "runner", {"eager", "cuda_graph"}}};
  table.check = CheckStepCase;
  table.make = MakeSubject<UnloadSubject>;
  return table;
}

}  // namespace lzero
