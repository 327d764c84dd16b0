// The device of engines whose network records no graphs.
#ifndef LZERO_FAMILY_EAGER_DEVICE_H_
#define LZERO_FAMILY_EAGER_DEVICE_H_

#include "absl/status/statusor.h"
#include "lzero/inference/inference_engine.h"
#include "lzero/inference/tensor/engine_device.h"

namespace lzero {

// MakeEngineDevice for such an engine. Logs what `auto` stands for on a CUDA device, where another
// family would record graphs.
absl::StatusOr<EngineDevice> MakeEagerDevice(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_EAGER_DEVICE_H_
