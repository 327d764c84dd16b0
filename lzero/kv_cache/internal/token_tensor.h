// Makes the tensors that hold cached tokens and checks tensors that come from outside. Not a cache:
// it knows nothing of contexts. No gradients. Thread-safe (pure functions); never synchronises a
// device.
#ifndef LZERO_KV_CACHE_INTERNAL_TOKEN_TENSOR_H_
#define LZERO_KV_CACHE_INTERNAL_TOKEN_TENSOR_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero::internal {

// A size of any length in CheckTensor's `sizes`.
inline constexpr int64_t kAnySize = -1;

// InvalidArgument "KV cache: NAME is VALUE, must be at least 1" when it is less.
absl::Status CheckPositive(const char* name, int64_t value);

// Bytes of float32 elements of these sizes; InvalidArgument when they do not fit 64 bits.
absl::StatusOr<int64_t> TokenBytes(absl::Span<const int64_t> sizes);

// Zeros of these sizes, float32, contiguous, created on `device` and outside of autograd and
// inference mode, so that they can be written in either. InvalidArgument for a device that cannot
// hold tensors here (meta, CUDA that is not loaded); ResourceExhausted when the machine has too
// little memory.
absl::StatusOr<at::Tensor> CreateTokenTensor(absl::Span<const int64_t> sizes, at::Device device);

// OK when `tensor` has this type, these sizes and this device; otherwise InvalidArgument, which
// begins with `what` and names what was given and what is allowed. Allocates nothing when OK.
absl::Status CheckTensor(absl::string_view what, const at::Tensor& tensor, at::ScalarType dtype,
                         absl::Span<const int64_t> sizes, at::Device device);

}  // namespace lzero::internal

#endif  // LZERO_KV_CACHE_INTERNAL_TOKEN_TENSOR_H_
