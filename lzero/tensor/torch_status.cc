#include "lzero/tensor/torch_status.h"

#include <new>
#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

absl::StatusCode CodeOf(const c10::Error& error, absl::string_view message) {
  // The CPU allocator reports a lack of memory by the base class.
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) != nullptr ||
      absl::StrContains(message, "DefaultCPUAllocator: can't allocate memory") ||
      absl::StrContains(message, "DefaultCPUAllocator: not enough memory")) {
    return absl::StatusCode::kResourceExhausted;
  }
  if (dynamic_cast<const c10::NotImplementedError*>(&error) != nullptr) {
    return absl::StatusCode::kUnimplemented;
  }
  if (dynamic_cast<const c10::ValueError*>(&error) != nullptr ||
      dynamic_cast<const c10::IndexError*>(&error) != nullptr ||
      dynamic_cast<const c10::TypeError*>(&error) != nullptr) {
    return absl::StatusCode::kInvalidArgument;
  }
  return absl::StatusCode::kInternal;
}

// Everything before the place in libtorch's sources and the stack of calls, or before advice for
// those who run Python or build libtorch.
std::string TrimBacktrace(absl::string_view message) {
  for (const char* mark :
       {"\nException raised from ", "\nC++ CapturedTraceback:", "\nSearch for `cudaError",
        "\nCUDA kernel errors might be", " Of the allocated memory "}) {
    const size_t at = message.find(mark);
    if (at != absl::string_view::npos) message = message.substr(0, at);
  }
  return std::string(absl::StripAsciiWhitespace(message));
}

}  // namespace

absl::Status FromTorchError(const c10::Error& error) {
  const std::string message = TrimBacktrace(error.what_without_backtrace());
  return absl::Status(CodeOf(error, message), absl::StrCat("libtorch: ", message));
}

absl::Status FromTorchException(const std::exception& error) {
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return absl::ResourceExhaustedError("out of memory");
  }
  return absl::InternalError(absl::StrCat("libtorch: ", TrimBacktrace(error.what())));
}

}  // namespace lzero
