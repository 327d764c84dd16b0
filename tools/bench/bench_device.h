// The device that a benchmark runs on: opened before anything is measured, waited for at the end of
// each timing, asked for its memory. The CPU needs neither. Belongs to one thread.
#ifndef LZERO_TOOLS_BENCH_BENCH_DEVICE_H_
#define LZERO_TOOLS_BENCH_BENCH_DEVICE_H_

#include <functional>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "lzero/graph/graph_backend.h"

namespace lzero {

struct DevicePeaks {
  double gflops = 0.0;  // of a large fp32 matrix product
  double gbs = 0.0;     // read and written, of a large copy
};

class BenchDevice {
 public:
  // "cpu" or "cuda". Errors as PrepareDevice: on a machine without a GPU they name the reason.
  static absl::StatusOr<BenchDevice> Open(const std::string& name);

  bool is_cpu() const { return backend_ == nullptr; }
  at::Device device() const { return is_cpu() ? at::Device(at::kCPU) : backend_->device(); }
  // As its driver names it; empty for the CPU.
  const std::string& gpu() const { return gpu_; }

  // A new unload unit for what records graphs; nullptr on the CPU.
  absl::StatusOr<std::unique_ptr<GraphBackend>> MakeBackend() const;
  // Waits for all work on the device.
  absl::Status Wait() const;
  // Memory of the whole device in use, by everyone; 0 on the CPU.
  absl::StatusOr<double> UsedMebibytes() const;
  // What libtorch's allocator holds of it; 0 on the CPU.
  absl::StatusOr<double> ReservedMebibytes() const;
  // The best of a few tries; about 0.1 s. Not for the CPU.
  absl::StatusOr<DevicePeaks> MeasurePeaks() const;

 private:
  std::unique_ptr<GraphBackend> backend_;  // its stream alone is used
  std::string gpu_;
};

// Seconds of one `run`: the mean of as many as take `least_seconds` together, at least
// `least_runs`, waited for once, at their end.
absl::StatusOr<double> TimeRuns(const BenchDevice& device, int64_t least_runs, double least_seconds,
                                const std::function<absl::Status()>& run);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_DEVICE_H_
