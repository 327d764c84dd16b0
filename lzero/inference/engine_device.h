// The device that a config names, made ready: what runs on it may be built afterwards. Any thread.
#ifndef LZERO_INFERENCE_ENGINE_DEVICE_H_
#define LZERO_INFERENCE_ENGINE_DEVICE_H_

#include <memory>

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "lzero/config/experiment_config.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/kv_cache/context_functions.h"
#include "lzero/mcts/device_functions.h"

namespace lzero {

// `cuda` loads libtorch's CUDA part first. Errors as LoadCuda (lzero/graph), naming
// inference.device.
absl::StatusOr<at::Device> PrepareDevice(Device device);

// What an engine has of its device; on the CPU nothing.
struct EngineDevice {
  std::unique_ptr<GraphBackend> backend;
  // For whole searches in the memory of the device.
  const DeviceFunctions* search_functions = nullptr;
  const ContextFunctions* context_functions = nullptr;
  at::Device device() const { return backend == nullptr ? at::kCPU : backend->device(); }
};

// Makes the device ready and takes an unload unit on it. Errors as PrepareDevice.
absl::StatusOr<EngineDevice> MakeEngineDevice(Device device);

}  // namespace lzero

#endif  // LZERO_INFERENCE_ENGINE_DEVICE_H_
