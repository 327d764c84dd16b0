#include "lzero/tensor/device.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace lzero {

absl::StatusOr<at::Device> ParseDevice(absl::string_view name) {
  if (name == "cpu") return at::Device(at::kCPU);
  if (name == "cuda" || absl::StartsWith(name, "cuda:")) {
    return absl::FailedPreconditionError(
        absl::StrCat("device '", name, "' is not part of this build; allowed: cpu"));
  }
  return absl::InvalidArgumentError(absl::StrCat("'", name, "' is not a device; allowed: cpu"));
}

absl::StatusOr<at::ScalarType> ParseDtype(absl::string_view name) {
  if (name == "fp32") return at::kFloat;
  return absl::InvalidArgumentError(
      absl::StrCat("'", name, "' is not a number type; allowed: fp32"));
}

}  // namespace lzero
