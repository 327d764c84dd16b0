#include "lzero/tensor/staging.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

bool CanStage(at::ScalarType type) {
  return type == at::kFloat || type == at::kLong || type == at::kInt;
}

}  // namespace

Staging Staging::Wrap(std::string name, at::Tensor tensor) {
  LZ_CHECK(tensor.is_contiguous() && CanStage(tensor.scalar_type()), name, ": ",
           c10::toString(tensor.scalar_type()), " of shape [", absl::StrJoin(tensor.sizes(), ", "),
           tensor.is_contiguous() ? "]" : "], not contiguous");
  return Staging(std::move(name), std::move(tensor));
}

Staging::Staging(std::string name, at::Tensor tensor)
    : name_(std::move(name)), tensor_(std::move(tensor)), row_size_(1) {
  for (int64_t axis = 1; axis < tensor_.dim(); ++axis) row_size_ *= tensor_.size(axis);
}

absl::Status Staging::CheckRows(at::ScalarType type, int64_t num_values) const {
  if (type != tensor_.scalar_type()) {
    return absl::InvalidArgumentError(absl::StrCat(name_, " holds ",
                                                   c10::toString(tensor_.scalar_type()),
                                                   ", the host gave ", c10::toString(type)));
  }
  const bool whole_rows = row_size_ == 0 ? num_values == 0 : num_values % row_size_ == 0;
  if (!whole_rows || num_values > tensor_.numel()) {
    return absl::InvalidArgumentError(
        absl::StrCat(name_, " has shape [", absl::StrJoin(tensor_.sizes(), ", "), "]: ", num_values,
                     " values are not between 0 and ", tensor_.numel(), " in rows of ", row_size_));
  }
  return absl::OkStatus();
}

template <typename T>
absl::Status Staging::CopyIn(absl::Span<const T> values) {
  const int64_t count = static_cast<int64_t>(values.size());
  LZ_RETURN_IF_ERROR(CheckRows(c10::CppTypeToScalarType<T>::value, count));
  if (count == 0) return absl::OkStatus();
  if (tensor_.is_cpu()) {
    std::memcpy(tensor_.mutable_data_ptr<T>(), values.data(), values.size() * sizeof(T));
    return absl::OkStatus();
  }
  return CatchTorch([&] {
    const at::Tensor host = at::from_blob(const_cast<T*>(values.data()), {count},
                                          at::TensorOptions().dtype(tensor_.scalar_type()));
    const torch::NoGradGuard no_grad;
    tensor_.view(-1).narrow(0, 0, count).copy_(host);
  });
}

template <typename T>
absl::Status Staging::CopyInAsync(absl::Span<const T> values) {
  if (tensor_.is_cpu()) return CopyIn(values);
  const int64_t count = static_cast<int64_t>(values.size());
  LZ_RETURN_IF_ERROR(CheckRows(c10::CppTypeToScalarType<T>::value, count));
  if (count == 0) return absl::OkStatus();
  return CatchTorch([&] {
    const torch::NoGradGuard no_grad;
    MakePinned();
    std::memcpy(pinned_.mutable_data_ptr<T>(), values.data(), values.size() * sizeof(T));
    tensor_.view(-1).narrow(0, 0, count).copy_(pinned_.narrow(0, 0, count), /*non_blocking=*/true);
  });
}

void Staging::MakePinned() {
  if (pinned_.defined()) return;
  pinned_ = at::empty(
      {tensor_.numel()},
      at::TensorOptions().dtype(tensor_.scalar_type()).pinned_memory(/*pinned_memory=*/true));
}

absl::Status Staging::CopyOutAsync() {
  if (tensor_.is_cpu()) return absl::OkStatus();
  return CatchTorch([&] {
    const torch::NoGradGuard no_grad;
    MakePinned();
    pinned_.copy_(tensor_.view(-1), /*non_blocking=*/true);
  });
}

template <typename T>
absl::Span<const T> Staging::pinned() const {
  const at::Tensor& host = tensor_.is_cpu() ? tensor_ : pinned_;
  return {host.const_data_ptr<T>(), static_cast<size_t>(host.numel())};
}

template <typename T>
absl::Status Staging::CopyOut(absl::Span<T> values) const {
  const int64_t count = static_cast<int64_t>(values.size());
  LZ_RETURN_IF_ERROR(CheckRows(c10::CppTypeToScalarType<T>::value, count));
  if (count == 0) return absl::OkStatus();
  if (tensor_.is_cpu()) {
    std::memcpy(values.data(), tensor_.const_data_ptr<T>(), values.size() * sizeof(T));
    return absl::OkStatus();
  }
  return CatchTorch([&] {
    at::Tensor host =
        at::from_blob(values.data(), {count}, at::TensorOptions().dtype(tensor_.scalar_type()));
    const torch::NoGradGuard no_grad;
    host.copy_(tensor_.view(-1).narrow(0, 0, count));
  });
}

template absl::Span<const float> Staging::pinned<float>() const;
template absl::Status Staging::CopyIn<float>(absl::Span<const float> values);
template absl::Status Staging::CopyIn<int64_t>(absl::Span<const int64_t> values);
template absl::Status Staging::CopyIn<int32_t>(absl::Span<const int32_t> values);
template absl::Status Staging::CopyInAsync<float>(absl::Span<const float> values);
template absl::Status Staging::CopyOut<float>(absl::Span<float> values) const;
template absl::Status Staging::CopyInAsync<int64_t>(absl::Span<const int64_t> values);
template absl::Status Staging::CopyOut<int64_t>(absl::Span<int64_t> values) const;
template absl::Status Staging::CopyInAsync<int32_t>(absl::Span<const int32_t> values);
template absl::Status Staging::CopyOut<int32_t>(absl::Span<int32_t> values) const;

}  // namespace lzero
