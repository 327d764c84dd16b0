#include "lzero/train/batch_staging.h"

#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

// The context mask is read on the host: it travels as num_padding.
bool IsStaged(absl::string_view name, const ArrayDims& dims) {
  return name != "context_mask" && NumElements(dims) > 0;
}

// The tensor of the losses that comes from the array `name`.
absl::string_view TensorNameOf(absl::string_view name) {
  if (name == "action_values") return "actions";
  if (name == "legal_action_masks") return "illegal";
  return name;
}

// Two tokens for each context step before the episode's start: [N, C] mask -> [N].
void CountPadding(const TrainBatch& batch, std::vector<int64_t>* num_padding) {
  const size_t num_context_steps = batch.num_context_steps;
  num_padding->assign(batch.num_samples, 0);
  for (size_t i = 0; i < batch.context_mask.size(); ++i) {
    if (batch.context_mask[i] == 0.0f) (*num_padding)[i / num_context_steps] += 2;
  }
}

}  // namespace

absl::StatusOr<BatchStaging> BatchStaging::Create(const BatchShape& shape, at::Device device) {
  std::vector<absl::string_view> tensors;
  const BatchTensors unset;
  VisitTensors(unset, [&](const char* name, const at::Tensor&) { tensors.push_back(name); });
  BatchStaging staging(shape);
  absl::Status status;
  const auto add = [&](const char* name, std::vector<int64_t> dims, at::ScalarType type) {
    absl::StatusOr<Staging> array = Staging::Create(name, std::move(dims), type, device);
    status.Update(array.status());
    const auto place = absl::c_find(tensors, TensorNameOf(name)) - tensors.begin();
    if (array.ok()) staging.arrays_.push_back({*std::move(array), static_cast<size_t>(place)});
  };
  const TrainBatch empty;
  VisitArrays(empty, shape, [&](const char* name, const auto& array, const ArrayDims& dims) {
    if (!IsStaged(name, dims)) return;
    add(name, dims, c10::CppTypeToScalarType<std::decay_t<decltype(array[0])>>::value);
  });
  add("num_padding", {shape.num_samples}, at::kLong);
  LZ_RETURN_IF_ERROR(status);
  return staging;
}

template <typename T>
absl::Status BatchStaging::CopyIn(const std::vector<T>& values, Staging* staging) {
  LZ_CHECK(static_cast<int64_t>(values.size()) == staging->tensor().numel(), staging->name(), ": ",
           values.size(), " values for ", staging->tensor().numel());
  return staging->CopyInAsync(absl::MakeConstSpan(values));
}

at::Tensor BatchStaging::Read(Array& array) {
  const at::Tensor& tensor = array.staging.tensor();
  if (tensor.scalar_type() != at::kByte) return tensor;
  if (array.staging.name() == "legal_action_masks") return tensor == 0;
  const torch::NoGradGuard no_grad;
  if (!array.numbers.defined()) {
    array.numbers = at::empty(tensor.sizes(), tensor.options().dtype(at::kFloat));
    // A number would be turned into a factor by CUDA's kernel, and k * (1 / 255) is not k / 255.
    divisor_ = at::full({1}, 255.0, array.numbers.options());
  }
  return array.numbers.copy_(tensor).div_(divisor_);
}

absl::StatusOr<BatchTensors> BatchStaging::Load(const TrainBatch& batch) {
  LZ_CHECK(batch.shape() == shape_, "a batch of another shape");
  CountPadding(batch, &num_padding_);
  const bool bootstraps = absl::c_any_of(batch.bootstrap_scales, [](float x) { return x != 0.0f; });
  BatchTensors tensors;
  std::vector<at::Tensor*> places;
  VisitTensors(tensors, [&](const char*, at::Tensor& tensor) { places.push_back(&tensor); });
  return CatchTorch([&]() -> absl::StatusOr<BatchTensors> {
    absl::Status status;
    auto next = arrays_.begin();
    VisitArrays(batch, shape_, [&](const char* name, const auto& values, const ArrayDims& dims) {
      if (!IsStaged(name, dims)) return;
      Array& array = *next++;
      at::Tensor& tensor = *places[array.place];
      const bool is_unread = &tensor == &tensors.bootstrap_observations && !bootstraps;
      if (!status.ok() || is_unread) return;
      status = CopyIn(values, &array.staging);
      if (status.ok()) tensor = Read(array);
    });
    LZ_RETURN_IF_ERROR(status);
    LZ_RETURN_IF_ERROR(CopyIn(num_padding_, &next->staging));
    if (shape_.num_context_steps > 0) tensors.num_padding = next->staging.tensor();
    tensors.num_context_steps = shape_.num_context_steps;
    return tensors;
  });
}

}  // namespace lzero
