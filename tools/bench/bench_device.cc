#include "tools/bench/bench_device.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/graph/cuda_graph_library.h"
#include "lzero/inference/tensor/engine_device.h"
#include "lzero/tensor/cuda_library.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

constexpr int64_t kProductSize = 4096;                // M = N = K
constexpr int64_t kCopiedNumbers = int64_t{1} << 27;  // 512 MiB
constexpr int kTries = 5;

}  // namespace

absl::StatusOr<const BenchDevice*> BenchDevice::Open(const std::string& name) {
  static auto& opened = *new std::map<std::string, BenchDevice>;  // never destroyed
  const auto found = opened.find(name);
  if (found != opened.end()) return &found->second;
  BenchDevice made;
  LZ_ASSIGN_OR_RETURN(const Device named, ParseDevice(name));
  if (named.is_cuda()) {
    LZ_ASSIGN_OR_RETURN(const at::Device device, PrepareDevice(named));
    LZ_ASSIGN_OR_RETURN(made.backend_, MakeCudaGraphBackend(device.index()));
    LZ_ASSIGN_OR_RETURN(const std::vector<std::string> devices, ListCudaDevices());
    const std::string& facts = devices[static_cast<size_t>(device.index())];
    made.gpu_ = facts.substr(0, facts.find(','));
  }
  return &opened.emplace(name, std::move(made)).first->second;
}

absl::StatusOr<BenchPeaks> BenchDevice::MeasurePeaks() const {
  return CatchTorch([&]() -> absl::StatusOr<BenchPeaks> {
    const c10::InferenceMode inference;
    const auto options = at::TensorOptions().device(device());
    const at::Tensor a = at::ones({kProductSize, kProductSize}, options), b = at::ones_like(a);
    const at::Tensor product = at::empty_like(a);
    const at::Tensor from = at::ones({kCopiedNumbers}, options), to = at::empty_like(from);
    at::Tensor written = product, copied = to;
    const auto seconds_of = [&](const auto& run) {
      return TimeRuns(*this, 1, 0.0, [&] {
        run();
        return absl::OkStatus();
      });
    };
    BenchPeaks peaks;
    for (int i = 0; i < kTries; ++i) {
      LZ_ASSIGN_OR_RETURN(const double product_seconds,
                          seconds_of([&] { at::mm_out(written, a, b); }));
      LZ_ASSIGN_OR_RETURN(const double copy_seconds, seconds_of([&] { copied.copy_(from); }));
      peaks.gflops =
          std::max(peaks.gflops, 2e-9 * std::pow(double{kProductSize}, 3) / product_seconds);
      peaks.gbs = std::max(peaks.gbs, 2e-9 * 4 * double{kCopiedNumbers} / copy_seconds);
    }
    return peaks;
  });
}

absl::Status CheckBenchMemory(int64_t bytes) {
  if (bytes <= MachineMemoryBytes()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "a case needs ", SizeText(bytes), " of memory, this machine has ",
      SizeText(MachineMemoryBytes()), "; lower --embed, --layers, --batch or --context"));
}

absl::StatusOr<double> TimeRuns(const BenchDevice& device, int64_t least_runs, double least_seconds,
                                const std::function<absl::Status()>& run) {
  for (int64_t runs = least_runs;;) {
    LZ_RETURN_IF_ERROR(device.Wait());
    const double start = MonotonicSeconds();
    for (int64_t i = 0; i < runs; ++i) LZ_RETURN_IF_ERROR(run());
    LZ_RETURN_IF_ERROR(device.Wait());
    const double elapsed = MonotonicSeconds() - start;
    if (elapsed >= 0.9 * least_seconds) return elapsed / static_cast<double>(runs);
    // Too few: as many as should do, and no fewer than twice as many.
    const double wanted = static_cast<double>(runs) * least_seconds / std::max(elapsed, 1e-9);
    runs = std::max(2 * runs, std::min(static_cast<int64_t>(wanted) + 1, 1000 * runs));
  }
}

}  // namespace lzero
