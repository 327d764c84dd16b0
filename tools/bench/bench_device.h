// The device that a benchmark runs on: opened before anything is measured, waited for at the end of
// each timing. The CPU needs neither. Belongs to one thread.
#ifndef LZERO_TOOLS_BENCH_BENCH_DEVICE_H_
#define LZERO_TOOLS_BENCH_BENCH_DEVICE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "lzero/graph/graph_backend.h"
#include "tools/bench/table/bench_table.h"

namespace lzero {

class BenchDevice {
 public:
  // "cpu", "cuda" or "cuda:N". Errors as PrepareDevice: on a machine without a GPU they name the
  // reason. A device is opened once and lives as long as the program.
  static absl::StatusOr<const BenchDevice*> Open(const std::string& name);

  bool is_cpu() const { return backend_ == nullptr; }
  at::Device device() const { return is_cpu() ? at::Device(at::kCPU) : backend_->device(); }
  // As its driver names it; empty for the CPU.
  const std::string& gpu() const { return gpu_; }

  // Waits for all work on the device.
  absl::Status Wait() const { return is_cpu() ? absl::OkStatus() : backend_->Synchronize(); }
  // Not for the CPU.
  absl::StatusOr<DeviceMemoryUse> MemoryUse() const { return backend_->MemoryUse(); }
  // Times a large fp32 product and a large copy, the best of a few tries; 0.1 s. Not for the CPU.
  absl::StatusOr<BenchPeaks> MeasurePeaks() const;

 private:
  std::unique_ptr<GraphBackend> backend_;  // its stream alone is used
  std::string gpu_;
};

// InvalidArgument when a case needs more than this machine's memory.
absl::Status CheckBenchMemory(int64_t bytes);

// Seconds of one `run`: the mean of as many as take `least_seconds` together, at least
// `least_runs`, waited for once, at their end.
absl::StatusOr<double> TimeRuns(const BenchDevice& device, int64_t least_runs, double least_seconds,
                                const std::function<absl::Status()>& run);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_DEVICE_H_
