#include "lzero/kv_cache/internal/token_tensor.h"

#include <string>

#include "ATen/Context.h"
#include "ATen/ops/zeros.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "c10/core/InferenceMode.h"
#include "lzero/base/machine.h"
#include "lzero/base/status_macros.h"

namespace lzero::internal {
namespace {

std::string SizesText(absl::Span<const int64_t> sizes) {
  return absl::StrCat("[",
                      absl::StrJoin(sizes, ", ",
                                    [](std::string* out, int64_t size) {
                                      absl::StrAppend(out,
                                                      size == kAnySize ? "n" : absl::StrCat(size));
                                    }),
                      "]");
}

std::string TensorText(at::ScalarType dtype, absl::Span<const int64_t> sizes, at::Device device) {
  return absl::StrCat(at::toString(dtype), " ", SizesText(sizes), " on ", device.str());
}

bool SizesFit(absl::Span<const int64_t> given, absl::Span<const int64_t> allowed) {
  if (given.size() != allowed.size()) return false;
  for (size_t i = 0; i < given.size(); ++i) {
    if (allowed[i] != kAnySize && given[i] != allowed[i]) return false;
  }
  return true;
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
      return absl::InvalidArgumentError(absl::StrCat("KV cache: a float32 tensor of ",
                                                     SizesText(sizes),
                                                     " has more bytes than 64 bits can count"));
    }
  }
  return bytes;
}

absl::StatusOr<at::Tensor> CreateTokenTensor(absl::Span<const int64_t> sizes, at::Device device) {
  if (!device.is_cpu() && !(device.is_cuda() && at::hasCUDA())) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: device is ", device.str(),
                     "; allowed: cpu, or cuda where its library is loaded"));
  }
  LZ_ASSIGN_OR_RETURN(const int64_t bytes, TokenBytes(sizes));
  const int64_t memory_bytes = MachineMemoryBytes();
  if (device.is_cpu() && bytes > memory_bytes) {
    return absl::ResourceExhaustedError(absl::StrCat("KV cache: a float32 tensor of ",
                                                     SizesText(sizes), " needs ", bytes,
                                                     " bytes, this machine has ", memory_bytes));
  }
  const c10::InferenceMode normal_mode(false);
  return at::zeros(at::IntArrayRef(sizes.data(), sizes.size()),
                   at::TensorOptions().dtype(at::kFloat).device(device));
}

absl::Status CheckTensor(absl::string_view what, const at::Tensor& tensor, at::ScalarType dtype,
                         absl::Span<const int64_t> sizes, at::Device device) {
  if (!tensor.defined()) {
    return absl::InvalidArgumentError(
        absl::StrCat(what, " is an undefined tensor, must be ", TensorText(dtype, sizes, device)));
  }
  const absl::Span<const int64_t> given(tensor.sizes().data(), tensor.sizes().size());
  if (tensor.scalar_type() == dtype && tensor.device() == device && SizesFit(given, sizes)) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(
      absl::StrCat(what, " is ", TensorText(tensor.scalar_type(), given, tensor.device()),
                   ", must be ", TensorText(dtype, sizes, device)));
}

}  // namespace lzero::internal
