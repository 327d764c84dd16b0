// The one place where an exception of libtorch ends and becomes an absl::Status. Its message is
// kept, the C++ backtrace behind it is not. No state, any thread.
#ifndef LZERO_TENSOR_TORCH_STATUS_H_
#define LZERO_TENSOR_TORCH_STATUS_H_

#include <exception>
#include <type_traits>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "c10/util/Exception.h"

namespace lzero {

// The Status that stands for `error`: ResourceExhausted when memory ran out, InvalidArgument for
// wrong values, indices and types, Unimplemented for a missing operation, Internal otherwise.
absl::Status FromTorchError(const c10::Error& error);
absl::Status FromTorchException(const std::exception& error);

namespace internal {

template <typename T>
struct CatchTorchResult {
  using Type = absl::StatusOr<T>;
};
template <>
struct CatchTorchResult<void> {
  using Type = absl::Status;
};
template <>
struct CatchTorchResult<absl::Status> {
  using Type = absl::Status;
};
template <typename T>
struct CatchTorchResult<absl::StatusOr<T>> {
  using Type = absl::StatusOr<T>;
};

}  // namespace internal

// Calls body(). A body that returns nothing or a Status gives a Status; one that returns a T or a
// StatusOr<T> gives a StatusOr<T>. What libtorch throws inside becomes the error.
template <typename Body>
auto CatchTorch(Body&& body) ->
    typename internal::CatchTorchResult<std::invoke_result_t<Body&&>>::Type {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<Body&&>>) {
      std::forward<Body>(body)();
      return absl::OkStatus();
    } else {
      return std::forward<Body>(body)();
    }
  } catch (const c10::Error& error) {
    return FromTorchError(error);
  } catch (const std::exception& error) {
    return FromTorchException(error);
  }
}

}  // namespace lzero

#endif  // LZERO_TENSOR_TORCH_STATUS_H_
