// The device that a config names, made ready: what runs on it may be built afterwards. Any thread.
#ifndef LZERO_INFERENCE_ENGINE_DEVICE_H_
#define LZERO_INFERENCE_ENGINE_DEVICE_H_

#include "absl/status/statusor.h"
#include "c10/core/Device.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// `cuda` loads libtorch's CUDA part first. Errors as LoadCuda (lzero/graph), naming
// inference.device.
absl::StatusOr<at::Device> PrepareDevice(Device device);

}  // namespace lzero

#endif  // LZERO_INFERENCE_ENGINE_DEVICE_H_
