// Prepares the device that a config names, before anything that runs on it is built. Any thread.
#ifndef LZERO_INFERENCE_TENSOR_ENGINE_DEVICE_H_
#define LZERO_INFERENCE_TENSOR_ENGINE_DEVICE_H_

#include <memory>
#include <optional>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "c10/core/Device.h"
#include "lzero/config/experiment_config.h"
#include "lzero/graph/graph_backend.h"
#include "lzero/inference/device/step_functions.h"
#include "lzero/kv_cache/context_functions.h"
#include "lzero/mcts/device/device_functions.h"
#include "lzero/model/network.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {

inline constexpr char kInferenceDevice[] = "inference.device";

// A CUDA device loads libtorch's CUDA part first. Errors as LoadCuda (lzero/graph), and NotFound
// for a number that no device of this machine has; both name `key`, the setting that asks for it.
absl::StatusOr<at::Device> PrepareDevice(Device device, absl::string_view key = kInferenceDevice);

// Waits for the work of the device that the weights lie on. InvalidArgument when one of them lies
// elsewhere than the first (names both).
absl::Status WaitForWeights(const Network& source);

// What an engine uses of its device; on the CPU all are null.
struct EngineDevice {
  std::shared_ptr<GraphBackend> backend;
  // For whole searches and steps in the memory of the device.
  const DeviceFunctions* search_functions = nullptr;
  const ContextFunctions* context_functions = nullptr;
  const StepFunctions* step_functions = nullptr;
  // Whether OnStream rounds convolutions without gradients to TF32; nullopt: as libtorch is told.
  std::optional<bool> rounds_convolutions = std::nullopt;
  at::Device device() const { return backend == nullptr ? at::kCPU : backend->device(); }

  // Calls `body` with the device's stream current; on the CPU just calls it.
  absl::Status OnStream(absl::FunctionRef<absl::Status()> body) const;
  // Waits for the work of the device's stream; on the CPU there is none.
  absl::Status Wait() const { return backend != nullptr ? backend->Wait() : absl::OkStatus(); }
  // Copies the weights of `source` into `network`, in place and without gradients, then calls
  // `then` on the same stream; `source` may be changed or gone as soon as it returns. It may lie on
  // another device, whose work is waited for. InvalidArgument when a weight of it lies elsewhere
  // than the first (names both); nothing has changed then.
  absl::Status CopyWeights(const Network& source, Network* network,
                           absl::FunctionRef<void()> then) const;
};

// Makes the device ready and, unless it is the CPU, takes an unload unit on it: a GraphBackend,
// whose stream and graph memory are given back together. Errors as PrepareDevice.
absl::StatusOr<EngineDevice> MakeEngineDevice(Device device,
                                              absl::string_view key = kInferenceDevice);
// The same for an engine, whose convolutions are as exact as config.dtype.
absl::StatusOr<EngineDevice> MakeEngineDevice(const InferenceConfig& config);

// Makes an engine by make(device), a StatusOr of it, with the device's stream current: memory
// belongs to the stream that it was made on, and may be given to others when that stream is done
// with it. What libtorch throws becomes the error. After an error what was made is gone, and its
// memory is back on the device.
template <typename Make>
auto MakeOnDevice(const EngineDevice& device, Make make) -> decltype(make(device)) {
  decltype(make(device)) made = absl::UnknownError("not made");
  absl::Status status = device.OnStream([&] {
    made = CatchTorch([&] { return make(device); });
    return made.status();
  });
  if (status.ok()) return made;
  made = status;
  if (device.backend != nullptr) device.backend->Unload({}).IgnoreError();
  return made;
}

}  // namespace lzero

#endif  // LZERO_INFERENCE_TENSOR_ENGINE_DEVICE_H_
