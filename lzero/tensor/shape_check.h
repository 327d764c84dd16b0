// Checks at the seams between floors: shape and device of a tensor against what the
// receiver expects. They return a Status, never synchronise a device and look at no element.
// Tensors may have any type and may need gradients.
#ifndef LZERO_TENSOR_SHAPE_CHECK_H_
#define LZERO_TENSOR_SHAPE_CHECK_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/status_macros.h"

namespace lzero {

// Length of an axis that may be anything.
inline constexpr int64_t kAnyLength = -1;

// Compares the shape of `tensor` with `expected`, one length an axis, as {batch, kAnyLength}.
// InvalidArgument names `name` and both shapes.
absl::Status CheckShape(const at::Tensor& tensor, absl::Span<const int64_t> expected,
                        absl::string_view name);

// Compares the device of `tensor`, of any shape. InvalidArgument names both devices.
absl::Status CheckDevice(const at::Tensor& tensor, at::Device expected, absl::string_view name);

}  // namespace lzero

// Returns from the enclosing function when `tensor` does not lie on `device`.
#define LZ_CHECK_DEVICE(tensor, device, name) \
  LZ_RETURN_IF_ERROR(::lzero::CheckDevice((tensor), (device), (name)))

#endif  // LZERO_TENSOR_SHAPE_CHECK_H_
