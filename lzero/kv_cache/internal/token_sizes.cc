#include "lzero/kv_cache/internal/token_sizes.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"

namespace lzero::internal {
namespace {

std::string SizesText(absl::Span<const int64_t> sizes) {
  return absl::StrCat("[", absl::StrJoin(sizes, ", "), "]");
}

std::string RowsText(int64_t size, Device device) {
  return absl::StrCat("rows of ", size, " numbers on ", DeviceText(device));
}

}  // namespace

absl::Status CheckPositive(const char* name, int64_t value) {
  if (value > 0) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("KV cache: ", name, " is ", value, ", must be at least 1"));
}

absl::StatusOr<int64_t> TokenBytes(absl::Span<const int64_t> sizes) {
  int64_t bytes = sizeof(float);
  for (const int64_t size : sizes) {
    if (__builtin_mul_overflow(bytes, size, &bytes)) {
      return absl::InvalidArgumentError(absl::StrCat("KV cache: float32 numbers ", SizesText(sizes),
                                                     " have more bytes than 64 bits can count"));
    }
  }
  return bytes;
}

absl::Status CheckFitsMemory(absl::Span<const int64_t> sizes) {
  LZ_ASSIGN_OR_RETURN(const int64_t bytes, TokenBytes(sizes));
  const int64_t memory_bytes = MachineMemoryBytes();
  if (bytes <= memory_bytes) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("KV cache: float32 numbers ", SizesText(sizes),
                                                   " need ", bytes, " bytes, this machine has ",
                                                   memory_bytes));
}

absl::Status CheckRows(absl::string_view what, int64_t given_size, Device given_device,
                       int64_t row_size, Device device) {
  if (given_size == row_size && given_device == device) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " are ", RowsText(given_size, given_device),
                                                 ", must be ", RowsText(row_size, device)));
}

}  // namespace lzero::internal
