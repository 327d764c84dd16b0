// Graphs of one CUDA stream by libtorch's own recorder, at::cuda::CUDAGraph, in
// liblzero_cuda_graph. The order of unloading is that which returns all memory: wait, drop the
// workspaces of cuBLAS while the stream's pool lives, reset all graphs together, then trim. Plain C
// on the outside.
#include <ATen/core/CachingHostAllocator.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/CUDAGraph.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <iterator>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// One capture at a time in a process: libtorch's allocator and generators assume it.
std::mutex& CaptureMutex() {
  static auto& mutex = *new std::mutex;
  return mutex;
}

absl::Status CudaStatus(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", cudaGetErrorString(error)));
}

// The workspaces of cuBLAS that belong to `stream`, of all handles. The graphs captured on it write
// to them, and those of other streams do not.
void ClearWorkspaces(void* stream) {
  for (auto* workspaces : {&at::cuda::cublas_handle_stream_to_workspace(),
                           &at::cuda::cublaslt_handle_stream_to_workspace()}) {
    const std::unique_lock<std::shared_mutex> lock(workspaces->mutex);
    for (auto entry = workspaces->map.begin(); entry != workspaces->map.end();) {
      entry = std::get<1>(entry->first) == stream ? workspaces->map.erase(entry) : std::next(entry);
    }
  }
}

// Waits for all work on a device. The caller holds the mutex: a capture forbids it.
absl::Status SynchronizeDevice(c10::DeviceIndex device) {
  const c10::cuda::CUDAGuard guard(device);
  return CudaStatus(cudaDeviceSynchronize(), "waiting for the device");
}

class CudaGraph : public CapturedGraph {
 public:
  explicit CudaGraph(c10::cuda::CUDAStream stream) : stream_(stream) {}

  absl::Status Replay() override {
    return CatchTorch([&] {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      graph_.replay();
    });
  }
  at::cuda::CUDAGraph& graph() { return graph_; }

 private:
  c10::cuda::CUDAStream stream_;
  at::cuda::CUDAGraph graph_;
};

class CudaGraphBackend : public GraphBackend {
 public:
  // Takes `raw`, a stream of `device`.
  CudaGraphBackend(cudaStream_t raw, c10::DeviceIndex device)
      : raw_(raw),
        stream_(c10::cuda::getStreamFromExternal(raw, device)),
        pool_(at::cuda::graph_pool_handle()) {}
  ~CudaGraphBackend() override {
    cudaStreamSynchronize(raw_);
    cudaStreamDestroy(raw_);
  }

  at::Device device() const override { return stream_.device(); }
  void* stream() const override { return stream_.stream(); }

  absl::Status OnStream(const std::function<void()>& body) override {
    return CatchTorch([&] {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      body();
    });
  }

  absl::Status WarmUp(int times, const std::function<void()>& body) override {
    // What the body reads may have been put on another stream, zeros of its buffers among it.
    LZ_RETURN_IF_ERROR(Synchronize());
    for (int i = 0; i < times; ++i) LZ_RETURN_IF_ERROR(OnStream(body));
    return Synchronize();
  }

  absl::StatusOr<std::unique_ptr<CapturedGraph>> Capture(
      const std::function<void()>& body) override {
    const std::lock_guard<std::mutex> one_at_a_time(CaptureMutex());
    LZ_ASSIGN_OR_RETURN(const DeviceMemoryUse before, MemoryUse());
    std::unique_ptr<CudaGraph> captured;
    absl::Status recorded;
    const absl::Status ended = CatchTorch([&] {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      captured = std::make_unique<CudaGraph>(stream_);  // asks for the current device
      stream_.synchronize();
      // Thread-local: another thread's allocation must not end this capture. All graphs of the
      // backend share one pool: they never run at once, and a tensor holds what is read afterwards.
      captured->graph().capture_begin(pool_, cudaStreamCaptureModeThreadLocal);
      recorded = CatchTorch(body);
      CountNodes();
      captured->graph().capture_end();  // whatever the body did: the stream must stop recording
    });
    recorded.Update(ended);
    if (recorded.ok()) {
      LZ_ASSIGN_OR_RETURN(const DeviceMemoryUse after, MemoryUse());
      recorded_.used_bytes += after.used_bytes - before.used_bytes;
      return std::unique_ptr<CapturedGraph>(std::move(captured));
    }
    if (!ended.ok()) {
      EndAllocation();
      ReleaseGenerator();
    }
    return absl::FailedPreconditionError(absl::StrCat("capture failed: ", recorded.message()));
  }

  RecordedWork recorded() const override { return recorded_; }

  absl::Status Wait() override {
    const c10::cuda::CUDAGuard guard(stream_.device_index());
    return CudaStatus(cudaStreamSynchronize(raw_), "waiting for a stream");
  }
  // Not while another unit captures: the device forbids to wait for all of it then.
  absl::Status Synchronize() override {
    const std::lock_guard<std::mutex> no_capture(CaptureMutex());
    return SynchronizeDevice(stream_.device_index());
  }

  absl::Status Unload(std::vector<std::unique_ptr<CapturedGraph>> graphs) override {
    const std::lock_guard<std::mutex> no_capture(CaptureMutex());
    LZ_RETURN_IF_ERROR(SynchronizeDevice(stream_.device_index()));
    const absl::Status cleared = CatchTorch([&] {
      ClearWorkspaces(raw_);
      for (const auto& graph : graphs) {
        // A capture that failed leaves its bucket and those after it empty.
        if (graph != nullptr) static_cast<CudaGraph&>(*graph).graph().reset();
      }
    });
    graphs.clear();
    LZ_RETURN_IF_ERROR(cleared);
    return TrimNow();
  }

  absl::Status TrimMemory() override {
    const std::lock_guard<std::mutex> no_capture(CaptureMutex());
    LZ_RETURN_IF_ERROR(CatchTorch([&] {
      ClearWorkspaces(c10::cuda::getDefaultCUDAStream(stream_.device_index()).stream());
    }));
    return TrimNow();
  }

  absl::StatusOr<DeviceMemoryUse> MemoryUse() const override {
    DeviceMemoryUse use;
    const c10::cuda::CUDAGuard guard(stream_.device_index());
    size_t free_bytes = 0, total_bytes = 0;
    LZ_RETURN_IF_ERROR(CudaStatus(cudaMemGetInfo(&free_bytes, &total_bytes), "asking for memory"));
    use.used_bytes = static_cast<int64_t>(total_bytes - free_bytes);
    LZ_RETURN_IF_ERROR(CatchTorch([&] {
      const auto stats = c10::cuda::CUDACachingAllocator::getDeviceStats(stream_.device_index());
      use.reserved_bytes = stats.reserved_bytes[0].current;
    }));
    return use;
  }

 private:
  // Adds the nodes of the capture that is under way; none where it has failed.
  void CountNodes() {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    cudaGraph_t graph = nullptr;
    size_t count = 0;
    const cudaError_t asked =
        cudaStreamGetCaptureInfo(raw_, &status, nullptr, &graph, nullptr, nullptr, nullptr);
    if (asked != cudaSuccess || status != cudaStreamCaptureStatusActive) return;
    if (cudaGraphGetNodes(graph, nullptr, &count) != cudaSuccess) return;
    recorded_.num_nodes += static_cast<int64_t>(count);
  }
  absl::Status TrimNow() const {
    LZ_RETURN_IF_ERROR(CatchTorch([&] {
      c10::cuda::CUDACachingAllocator::emptyCache();
      // Pinned memory too: a pool that graphs have left stays there, and no capture could use it.
      at::getHostAllocator(at::kCUDA)->empty_cache();
    }));
    return CudaStatus(cudaDeviceGraphMemTrim(stream_.device_index()), "trimming graph memory");
  }
  // Closes what capture_end leaves open when it throws [libtorch 2.11; pytorch #180395]: allocators
  // that go on recording into the pool refuse to give any memory back from then on.
  void EndAllocation() {
    const c10::DeviceIndex device = stream_.device_index();
    const absl::Status ended =
        CatchTorch([&] { c10::cuda::CUDACachingAllocator::endAllocateToPool(device, pool_); });
    if (!ended.ok()) return;  // it was not recording: this libtorch closes it
    CatchTorch([&] { c10::cuda::CUDACachingAllocator::releasePool(device, pool_); }).IgnoreError();
    CatchTorch([&] {
      at::HostAllocator* host = at::getHostAllocator(at::kCUDA);
      host->end_allocate_to_pool(pool_);
      host->release_pool(pool_);
    }).IgnoreError();
  }

  // The generator of random numbers stays in a capture whose end throws, and draws nothing from
  // then on; the end of another one releases it.
  void ReleaseGenerator() const {
    CatchTorch([&] {
      const c10::cuda::CUDAStreamGuard guard(stream_);
      at::cuda::CUDAGraph graph;
      graph.capture_begin(at::cuda::graph_pool_handle(), cudaStreamCaptureModeThreadLocal);
      at::zeros({1}, at::TensorOptions().device(device()));  // an empty graph is warned of
      graph.capture_end();
    }).IgnoreError();
  }

  cudaStream_t raw_;
  c10::cuda::CUDAStream stream_;
  at::cuda::MempoolId_t pool_;
  RecordedWork recorded_;
};

// A stream of its own, never the default one, and never shared with another unload unit as those of
// libtorch's pool are.
absl::StatusOr<GraphBackend*> MakeBackend(int device) {
  return CatchTorch([&]() -> absl::StatusOr<GraphBackend*> {
    const auto index = static_cast<c10::DeviceIndex>(device);
    at::globalContext().lazyInitDevice(at::kCUDA);  // its allocator can be asked from now on
    const c10::cuda::CUDAGuard guard(index);
    cudaStream_t raw = nullptr;
    LZ_RETURN_IF_ERROR(
        CudaStatus(cudaStreamCreateWithFlags(&raw, cudaStreamNonBlocking), "making a stream"));
    return new CudaGraphBackend(raw, index);
  });
}

}  // namespace
}  // namespace lzero

// A backend on this CUDA device, or null with an explanation in `error` (at most `size` bytes with
// the closing 0). The caller deletes it.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C
extern "C" lzero::GraphBackend* lz_cuda_make_graph_backend(size_t version, int device, char* error,
                                                           size_t size) {
  if (version != lzero::kGraphBackendVersion) {
    std::snprintf(error, size, "liblzero_cuda_graph.so is of another build");
    return nullptr;
  }
  const absl::StatusOr<lzero::GraphBackend*> backend = lzero::MakeBackend(device);
  if (backend.ok()) return *backend;
  std::snprintf(error, size, "%s", std::string(backend.status().message()).c_str());
  return nullptr;
}

// Waits for all work on this CUDA device. Returns 0, or 1 with an explanation in `error`.
// NOLINTNEXTLINE(readability-identifier-naming): a name of C
extern "C" int lz_cuda_synchronize(int device, char* error, size_t size) {
  const std::lock_guard<std::mutex> no_capture(lzero::CaptureMutex());
  const absl::Status waited = lzero::SynchronizeDevice(static_cast<c10::DeviceIndex>(device));
  if (waited.ok()) return 0;
  std::snprintf(error, size, "%s", std::string(waited.message()).c_str());
  return 1;
}
