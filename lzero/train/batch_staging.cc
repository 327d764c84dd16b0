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
template <typename T>
bool IsStaged(const std::vector<T>& array, const TrainBatch& batch) {
  return static_cast<const void*>(&array) != &batch.context_mask;
}

// The tensor of the losses that comes from the array `name`.
absl::string_view TensorNameOf(absl::string_view name) {
  if (name == "observation_bytes") return "observations";
  if (name == "bootstrap_observation_bytes") return "bootstrap_observations";
  if (name == "action_values") return "actions";
  if (name == "legal_action_masks") return "illegal";
  return name;
}

at::ScalarType TypeOf(const std::vector<float>&) { return at::kFloat; }
at::ScalarType TypeOf(const std::vector<uint8_t>&) { return at::kByte; }
at::ScalarType TypeOf(const std::vector<int32_t>&) { return at::kInt; }

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
  std::vector<Staging> arrays;
  absl::Status status;
  const auto add = [&](const char* name, std::vector<int64_t> dims, at::ScalarType type) {
    absl::StatusOr<Staging> array = Staging::Create(name, std::move(dims), type, device);
    status.Update(array.status());
    if (array.ok()) arrays.push_back(*std::move(array));
  };
  const TrainBatch empty;
  VisitArrays(empty, shape,
              [&](const char* name, const auto& array, int num_axes, const ArrayDims& dims) {
                if (!IsStaged(array, empty) || NumElements(dims) == 0) return;
                add(name, {dims.begin(), dims.begin() + num_axes}, TypeOf(array));
              });
  add("num_padding", {shape.num_samples}, at::kLong);
  LZ_RETURN_IF_ERROR(status);
  return BatchStaging(shape, std::move(arrays));
}

BatchStaging::BatchStaging(const BatchShape& shape, std::vector<Staging> arrays)
    : shape_(shape), arrays_(std::move(arrays)) {}

template <typename T>
absl::Status BatchStaging::CopyIn(const std::vector<T>& values, Staging* staging) {
  LZ_CHECK(static_cast<int64_t>(values.size()) == staging->tensor().numel(), staging->name(), ": ",
           values.size(), " values for ", staging->tensor().numel());
  return staging->CopyInAsync(absl::MakeConstSpan(values));
}

at::Tensor BatchStaging::Read(const Staging& staged) {
  const at::Tensor& tensor = staged.tensor();
  if (tensor.scalar_type() != at::kByte) return tensor;
  if (staged.name() == "legal_action_masks") return tensor == 0;
  const torch::NoGradGuard no_grad;
  at::Tensor& numbers = numbers_[staged.name()];
  if (!numbers.defined()) {
    numbers = at::empty(tensor.sizes(), tensor.options().dtype(at::kFloat));
    // A number would be turned into a factor by CUDA's kernel, and k * (1 / 255) is not k / 255.
    divisor_ = at::full({1}, 255.0, numbers.options());
  }
  return numbers.copy_(tensor).div_(divisor_);
}

absl::StatusOr<BatchTensors> BatchStaging::Load(const TrainBatch& batch) {
  LZ_CHECK(batch.shape() == shape_, "a batch of another shape");
  // What is derived from the batch.
  CountPadding(batch, &num_padding_);
  const bool bootstraps = absl::c_any_of(batch.bootstrap_scales, [](float x) { return x != 0.0f; });
  // Where each tensor goes, by name.
  BatchTensors tensors;
  std::map<absl::string_view, at::Tensor*> places;
  VisitTensors(tensors, [&](const char* name, at::Tensor& tensor) { places[name] = &tensor; });
  return CatchTorch([&]() -> absl::StatusOr<BatchTensors> {
    absl::Status status;
    // Copy the arrays in; arrays_ is in the order of VisitArrays, then the padding.
    auto next = arrays_.begin();
    VisitArrays(batch, shape_,
                [&](const char* name, const auto& array, int, const ArrayDims& dims) {
                  if (!IsStaged(array, batch) || NumElements(dims) == 0) return;
                  Staging& staging = *next++;
                  const absl::string_view tensor = TensorNameOf(name);
                  if (!status.ok() || (tensor == "bootstrap_observations" && !bootstraps)) return;
                  status = CopyIn(array, &staging);
                  if (status.ok()) *places.at(tensor) = Read(staging);
                });
    LZ_RETURN_IF_ERROR(status);
    LZ_RETURN_IF_ERROR(CopyIn(num_padding_, &*next));
    if (shape_.num_context_steps > 0) tensors.num_padding = next->tensor();
    tensors.num_context_steps = shape_.num_context_steps;
    return tensors;
  });
}

}  // namespace lzero
