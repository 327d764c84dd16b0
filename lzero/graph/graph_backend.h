// Recording a piece of device work once and replaying it: what a captured step needs of a device,
// so that the step itself links no CUDA. One backend is one unload unit: a device, one stream for
// warm-up, capture and replay, and the memory of its graphs. Implemented in liblzero_cuda_graph
// (cuda/), which is loaded at run time, and by a plain one in tests. One thread at a time. While
// one captures, no other thread may draw random numbers on the device (dropout, a seed): libtorch's
// generator is in the capture. So build engines before training.
#ifndef LZERO_GRAPH_GRAPH_BACKEND_H_
#define LZERO_GRAPH_GRAPH_BACKEND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/core/Device.h"

namespace lzero {

// Work that was recorded. Its body may not allocate outside the graph's own memory, wait for the
// device, or depend on a number that the host reads.
class CapturedGraph {
 public:
  virtual ~CapturedGraph() = default;
  // Puts the work on the backend's stream and returns at once. Internal, with the device's message.
  virtual absl::Status Replay() = 0;
};

struct DeviceMemoryUse {
  int64_t reserved_bytes = 0;  // held by libtorch's allocator
  int64_t used_bytes = 0;      // of the whole device, by everyone
};

struct RecordedWork {
  int64_t num_nodes = 0;   // kernels, copies and fills in all graphs
  int64_t used_bytes = 0;  // more of the device than before, the memory of their tensors among it
};

// Changes with the interface: a library of another build is refused.
inline constexpr size_t kGraphBackendVersion = 3;

// Runs of a body before its capture, with the same shapes: lazy loading, workspaces and choices of
// algorithms happen in these, not while recording.
inline constexpr int kWarmUps = 3;

class GraphBackend {
 public:
  virtual ~GraphBackend() = default;
  virtual at::Device device() const = 0;

  // The stream that work of this unit is put on, a cudaStream_t.
  virtual void* stream() const = 0;
  // Calls `body` with the backend's stream current, `times` times, after everything that was put on
  // the device before, and waits.
  virtual absl::Status WarmUp(int times, const std::function<void()>& body) = 0;
  // Records what `body` puts on the stream; nothing is computed. Warm up first with the same
  // shapes. FailedPrecondition with the cause when the device refuses; the memory of a failed
  // capture may be lost until the process ends, so do not try again.
  virtual absl::StatusOr<std::unique_ptr<CapturedGraph>> Capture(
      const std::function<void()>& body) = 0;
  // What was recorded so far.
  virtual RecordedWork recorded() const = 0;
  // Calls `body` with the backend's stream current; waits for nothing.
  virtual absl::Status OnStream(const std::function<void()>& body) = 0;
  // Waits for the work of this unit.
  virtual absl::Status Wait() = 0;
  // Waits for everything on the device, other streams included: where memory is handed over that
  // another stream wrote or will use again.
  virtual absl::Status Synchronize() = 0;

  // Waits, drops these graphs together, and gives their memory and that of the stream's workspaces
  // back to the device; without graphs too. Other graphs of this backend cannot be replayed any
  // more: they wrote to the workspaces. Tensors that captured work wrote to must be gone or lie
  // outside of the graphs' memory. Entries may be null, as those after a capture that failed.
  virtual absl::Status Unload(std::vector<std::unique_ptr<CapturedGraph>> graphs) = 0;
  // Gives unused memory of libtorch's allocator back to the device, and the workspaces of the
  // default stream, which no graph uses: nothing may run there meanwhile.
  virtual absl::Status TrimMemory() = 0;
  virtual absl::StatusOr<DeviceMemoryUse> MemoryUse() const = 0;
};

// Tells, at detail, what a backend has recorded for `owner`.
void LogRecorded(const std::string& owner, const GraphBackend& backend);

// The batch sizes that work is captured for. One row runs in two: cuBLASLt has refused products of
// a single row with an epilogue [libtorch 2.11, addmm].
const std::vector<int64_t>& BatchBuckets();
// The buckets that batches of 1 .. max_batch need: all up to the first that holds max_batch. Beyond
// the largest, max_batch itself is the last.
std::vector<int64_t> BucketsUpTo(int64_t max_batch);
// The index of the smallest of `buckets` (ascending) that holds `batch`. The caller must give no
// larger batch.
size_t BucketOf(const std::vector<int64_t>& buckets, int64_t batch);

}  // namespace lzero

#endif  // LZERO_GRAPH_GRAPH_BACKEND_H_
