#include "lzero/train/update/batch_staging.h"

#include <cstring>
#include <type_traits>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/string_view.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/tensor/torch.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

constexpr size_t kAlignment = 256;  // bytes, what an allocation on a device has
constexpr absl::string_view kBootstraps = "bootstrap_observations";

// The context mask is read on the host: it travels as num_padding.
bool IsStaged(absl::string_view name, const ArrayDims& dims) {
  return name != "context_mask" && NumElements(dims) > 0;
}

// The tensor of the losses that comes from the array `name`.
absl::string_view TensorNameOf(absl::string_view name) {
  if (name == "action_values") return "actions";
  if (name == "bootstrap_action_values") return "bootstrap_actions";
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
  auto made = CatchTorch([&] { return BatchStaging(shape, device); });
  if (!made.ok()) return Annotate(made.status(), "a batch");
  return made;
}

BatchStaging::BatchStaging(const BatchShape& shape, at::Device device) : shape_(shape) {
  std::vector<absl::string_view> names;
  const BatchTensors unset;
  VisitTensors(unset, [&](const char* name, const at::Tensor&) { names.push_back(name); });
  // Empty tensors of the host at first, which tell shape and type.
  const auto add = [&](const char* name, const ArrayDims& dims, at::ScalarType type) {
    const auto place = absl::c_find(names, TensorNameOf(name)) - names.begin();
    arrays_.push_back({name, static_cast<size_t>(place),
                       at::empty(dims, at::TensorOptions().dtype(type).device(at::kMeta))});
  };
  const TrainBatch empty;
  VisitArrays(empty, shape, [&](const char* name, const auto& array, const ArrayDims& dims) {
    if (!IsStaged(name, dims)) return;
    add(name, dims, c10::CppTypeToScalarType<std::decay_t<decltype(array[0])>>::value);
  });
  add("num_padding", {shape.num_samples}, at::kLong);
  // Places in the buffer: the learning rate, then the arrays, the one that may stay behind last.
  size_t size = kAlignment;
  for (const bool is_last : {false, true}) {
    if (is_last) num_always_ = size;
    for (Array& array : arrays_) {
      if ((array.name == kBootstraps) != is_last) continue;
      array.offset = size;
      size += (array.tensor.nbytes() + kAlignment - 1) / kAlignment * kAlignment;
    }
  }
  const auto bytes = at::TensorOptions().dtype(at::kByte);
  buffer_ = at::zeros({static_cast<int64_t>(size)}, bytes.device(device));
  host_ = device.is_cpu() ? buffer_ : at::zeros(buffer_.sizes(), bytes.pinned_memory(true));
  const auto view = [&](size_t offset, const at::Tensor& like) {
    return buffer_.narrow(0, static_cast<int64_t>(offset), static_cast<int64_t>(like.nbytes()))
        .view(like.scalar_type())
        .view(like.sizes());
  };
  for (Array& array : arrays_) array.tensor = view(array.offset, array.tensor);
  learning_rate_ = view(0, at::empty({}, at::TensorOptions().device(at::kMeta)));
}

absl::Status BatchStaging::CopyIn(const TrainBatch& batch, double learning_rate,
                                  bool always_bootstraps) {
  LZ_CHECK(batch.shape() == shape_, "a batch of another shape");
  CountPadding(batch, &num_padding_);
  bootstraps_ = always_bootstraps ||
                absl::c_any_of(batch.bootstrap_scales, [](float x) { return x != 0.0f; });
  auto* const host = static_cast<std::byte*>(host_.mutable_data_ptr());
  const auto pack = [&](const Array& array, const auto& values) {
    LZ_CHECK(static_cast<int64_t>(values.size()) == array.tensor.numel(), array.name, ": ",
             values.size(), " values for ", array.tensor.numel());
    std::memcpy(host + array.offset, values.data(), values.size() * sizeof(values[0]));
  };
  auto next = arrays_.begin();
  VisitArrays(batch, shape_, [&](const char* name, const auto& values, const ArrayDims& dims) {
    if (!IsStaged(name, dims)) return;
    const Array& array = *next++;
    if (array.name != kBootstraps || bootstraps_) pack(array, values);
  });
  pack(*next, num_padding_);
  const auto rate = static_cast<float>(learning_rate);
  std::memcpy(host, &rate, sizeof(rate));
  if (buffer_.is_cpu()) return absl::OkStatus();
  return CatchTorch([&] {
    const int64_t count = bootstraps_ ? buffer_.numel() : static_cast<int64_t>(num_always_);
    buffer_.narrow(0, 0, count).copy_(host_.narrow(0, 0, count), /*non_blocking=*/true);
  });
}

at::Tensor BatchStaging::ReadOne(Array& array) {
  const at::Tensor& tensor = array.tensor;
  if (tensor.scalar_type() != at::kByte) return tensor;
  const bool is_mask = array.name == "legal_action_masks";
  if (!is_mask && tensor.is_cpu()) return tensor;  // encoders read bytes there
  if (!array.read.defined()) {
    array.read =
        at::empty(tensor.sizes(), tensor.options().dtype(is_mask ? at::kBool : at::kFloat));
    // A number would be turned into a factor by CUDA's kernel, and k * (1 / 255) is not k / 255.
    if (!is_mask) divisor_ = at::full({1}, 255.0, array.read.options());
  }
  if (is_mask) return at::eq_out(array.read, tensor, 0);
  return array.read.copy_(tensor).div_(divisor_);
}

BatchTensors BatchStaging::Read() {
  const torch::NoGradGuard no_grad;
  BatchTensors tensors;
  std::vector<at::Tensor*> places;
  VisitTensors(tensors, [&](const char*, at::Tensor& tensor) { places.push_back(&tensor); });
  for (Array& array : arrays_) {
    const bool is_absent = array.name == kBootstraps
                               ? !bootstraps_
                               : array.name == "num_padding" && shape_.num_context_steps == 0;
    if (!is_absent) *places[array.place] = ReadOne(array);
  }
  tensors.num_context_steps = shape_.num_context_steps;
  return tensors;
}

}  // namespace lzero
