// Sizes of what holds cached tokens, and checks of what comes from outside. Thread-safe (pure
// functions).
#ifndef LZERO_KV_CACHE_INTERNAL_TOKEN_SIZES_H_
#define LZERO_KV_CACHE_INTERNAL_TOKEN_SIZES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/kv_cache/token_rows.h"

namespace lzero::internal {

// InvalidArgument "KV cache: NAME is VALUE, must be at least 1" when it is less.
absl::Status CheckPositive(const char* name, int64_t value);

// Bytes of float32 elements of these sizes; InvalidArgument when they do not fit 64 bits.
absl::StatusOr<int64_t> TokenBytes(absl::Span<const int64_t> sizes);

// Errors as TokenBytes; ResourceExhausted when this machine has less memory than that.
absl::Status CheckFitsMemory(absl::Span<const int64_t> sizes);

// InvalidArgument, naming what was given and what is allowed, unless `rows` are of `row_size`
// numbers on `device`. Allocates nothing when OK.
absl::Status CheckRows(absl::string_view what, int64_t given_size, Device given_device,
                       int64_t row_size, Device device);
template <typename T>
absl::Status CheckRows(absl::string_view what, const Rows<T>& rows, int64_t row_size,
                       Device device) {
  return CheckRows(what, rows.row_size, rows.device, row_size, device);
}

}  // namespace lzero::internal

#endif  // LZERO_KV_CACHE_INTERNAL_TOKEN_SIZES_H_
