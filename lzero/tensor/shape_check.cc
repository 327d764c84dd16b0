#include "lzero/tensor/shape_check.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace lzero {
namespace {

absl::Status CheckDefined(const at::Tensor& tensor, absl::string_view name) {
  if (tensor.defined()) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " is an undefined tensor"));
}

std::string FormatLength(int64_t length) {
  return length == kAnyLength ? "any" : absl::StrCat(length);
}

}  // namespace

absl::Status CheckShape(const at::Tensor& tensor, absl::Span<const int64_t> expected,
                        absl::string_view name) {
  LZ_RETURN_IF_ERROR(CheckDefined(tensor, name));
  bool fits = tensor.dim() == static_cast<int64_t>(expected.size());
  for (size_t i = 0; fits && i < expected.size(); ++i) {
    fits = expected[i] == kAnyLength || expected[i] == tensor.size(static_cast<int64_t>(i));
  }
  if (fits) return absl::OkStatus();
  const auto append_length = [](std::string* out, int64_t length) { *out += FormatLength(length); };
  return absl::InvalidArgumentError(
      absl::StrCat(name, " has shape [", absl::StrJoin(tensor.sizes(), ", "), "], expected [",
                   absl::StrJoin(expected, ", ", append_length), "]"));
}

absl::Status CheckDevice(const at::Tensor& tensor, at::Device expected, absl::string_view name) {
  LZ_RETURN_IF_ERROR(CheckDefined(tensor, name));
  // "cuda" without a number stands for any CUDA device.
  if (tensor.device().type() == expected.type() &&
      (!expected.has_index() || tensor.device() == expected)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name, " lies on device ", tensor.device().str(), ", expected ", expected.str()));
}

}  // namespace lzero
