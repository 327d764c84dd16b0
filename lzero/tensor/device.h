// Turns the names that a config uses for devices and number types into libtorch's. This build knows
// the CPU; a CUDA device is added here and nowhere else. Pure functions.
#ifndef LZERO_TENSOR_DEVICE_H_
#define LZERO_TENSOR_DEVICE_H_

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "c10/core/Device.h"
#include "c10/core/ScalarType.h"

namespace lzero {

// "cpu". InvalidArgument says what is allowed; FailedPrecondition for a device that exists but is
// not part of this build.
absl::StatusOr<at::Device> ParseDevice(absl::string_view name);

// "fp32". InvalidArgument says what is allowed.
absl::StatusOr<at::ScalarType> ParseDtype(absl::string_view name);

}  // namespace lzero

#endif  // LZERO_TENSOR_DEVICE_H_
