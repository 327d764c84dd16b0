// How much memory of a CUDA device a run takes at most, part by part, worked out before anything is
// made. What libtorch and cuBLAS ask for was counted on the null GPU; what the driver keeps for a
// process is an assumption. The workspaces that cuDNN's convolutions may take are not known here.
// Pure arithmetic, no thread rule.
#ifndef LZERO_TRAIN_DEVICE_MEMORY_H_
#define LZERO_TRAIN_DEVICE_MEMORY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "lzero/config/experiment_config.h"
#include "lzero/tensor/cuda_library.h"

namespace lzero {

// Assumed, and named so in the plan: what the driver keeps for a process with libtorch's kernels,
// what it loads when these first run, and for a node of a graph. An H100 kept 701 MiB in all. The
// null GPU has no driver that could be measured.
inline constexpr int64_t kContextBytes = int64_t{512} << 20;
inline constexpr int64_t kModuleBytes = int64_t{192} << 20;
inline constexpr int64_t kGraphNodeBytes = 2048;

struct DeviceMemoryPlan {
  Device device;
  int64_t learner = 0;            // weights, two moments of the optimiser; target weights
  int64_t batch = 0;              // one batch of training sequences
  int64_t update = 0;             // what an update computes on the way, its gradients among it
  int64_t inference = 0;          // weights, caches and buffers of the engines that are there
  int64_t activations = 0;        // what these compute on the way
  int64_t workspaces = 0;         // of cuBLAS
  int64_t blocks = 0;             // parts of libtorch's blocks that nothing fills
  int64_t graphs = 0;             // kGraphNodeBytes for each node
  int64_t context = 0;            // kContextBytes + kModuleBytes
  bool has_convolutions = false;  // whose workspaces are not known
  // What libtorch allocates.
  int64_t allocated() const {
    return learner + batch + update + inference + activations + workspaces + blocks;
  }
  int64_t total() const { return allocated() + graphs + context; }
};

// A learner with `num_parameters` weights in one copy; bytes of a batch and of what an update
// keeps.
struct LearnerSizes {
  int64_t num_parameters = 0, batch = 0, update = 0;
  int64_t num_recorded = 1;  // updates, one a task, where graphs are on
};
void AddLearner(const ExperimentConfig& config, const LearnerSizes& sizes, DeviceMemoryPlan* plan);

// An engine: bytes that it keeps, and those of a forward pass; nodes that it records, 0: none;
// threads that may run it.
struct EngineSizes {
  int64_t kept = 0, activations = 0, graph_nodes = 0, num_threads = 1;
};
void AddEngine(const EngineSizes& sizes, DeviceMemoryPlan* plan);

// "cuda:0".
std::string DeviceName(const DeviceMemoryPlan& plan);

// "learner 1.0 MiB, batch 64.0 KiB, ...": all parts.
std::string DevicePartsText(const DeviceMemoryPlan& plan);

// ResourceExhausted when the device has not so much free: names the parts and what to lower. The
// context is there when a device is asked, so it is not counted again; what libtorch's kernels take
// when they are loaded, later, is not counted at all.
absl::Status CheckDeviceMemory(const DeviceMemoryPlan& plan, const CudaMemory& memory);

}  // namespace lzero

#endif  // LZERO_TRAIN_DEVICE_MEMORY_H_
