// Macros that pass an absl::Status upwards. Nothing here throws.
#ifndef LZERO_BASE_STATUS_MACROS_H_
#define LZERO_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"

// Returns from the enclosing function if `expression` (an absl::Status) is not OK.
#define LZ_RETURN_IF_ERROR(expression)       \
  do {                                       \
    ::absl::Status lz_status = (expression); \
    if (!lz_status.ok()) [[unlikely]]        \
      return lz_status;                      \
  } while (false)

#define LZ_MACRO_JOIN_INNER(a, b) a##b
#define LZ_MACRO_JOIN(a, b) LZ_MACRO_JOIN_INNER(a, b)

// LZ_ASSIGN_OR_RETURN(auto value, Function()): value on success, otherwise returns the error.
#define LZ_ASSIGN_OR_RETURN(target, expression) \
  LZ_ASSIGN_OR_RETURN_INNER(LZ_MACRO_JOIN(lz_status_or_, __LINE__), target, expression)
#define LZ_ASSIGN_OR_RETURN_INNER(holder, target, expression) \
  auto holder = (expression);                                 \
  if (!holder.ok()) [[unlikely]]                              \
    return holder.status();                                   \
  target = std::move(holder).value()

namespace lzero {

// The same error with `context` before its message: "context: message".
inline absl::Status Annotate(const absl::Status& status, absl::string_view context) {
  if (status.ok()) return status;
  return absl::Status(status.code(), absl::StrCat(context, ": ", status.message()));
}

}  // namespace lzero

#endif  // LZERO_BASE_STATUS_MACROS_H_
