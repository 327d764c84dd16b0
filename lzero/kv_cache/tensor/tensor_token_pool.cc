#include "lzero/kv_cache/tensor/tensor_token_pool.h"

#include <utility>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/index_select.h"
#include "ATen/ops/zeros.h"
#include "c10/core/InferenceMode.h"
#include "lzero/base/check.h"
#include "lzero/tensor/torch_status.h"

namespace lzero {
namespace {

at::TensorOptions Floats(at::Device device) {
  return at::TensorOptions().dtype(at::kFloat).device(device);
}

// Somebody's memory as a tensor; nothing is asked of the device.
at::Tensor View(const void* numbers, at::IntArrayRef sizes, const at::TensorOptions& options) {
  return at::from_blob(
      const_cast<void*>(numbers), sizes, /*deleter=*/[](void*) {}, options, options.device());
}

class TensorTokenPool : public TokenPool {
 public:
  TensorTokenPool(const KVCacheShape& shape, int64_t num_slots, at::Device device)
      : token_size_(shape.token_size()), slots_(Zeros(num_slots, device)) {}

  void GatherInto(absl::Span<const int64_t> slots, float* out) override {
    if (slots.empty()) return;
    const at::NoGradGuard no_grad;
    at::Tensor rows = TokensAt(out, static_cast<int64_t>(slots.size()), device());
    at::index_select_out(rows, slots_, 0, IndexTensor(slots));
  }

  void Scatter(absl::Span<const int64_t> slots, const float* rows) override {
    if (slots.empty()) return;
    ScatterTensor(slots, TokensAt(rows, static_cast<int64_t>(slots.size()), device()));
  }

  void CopyRows(absl::Span<const int64_t> rows, const float* tokens, int64_t count,
                absl::Span<const int64_t> slots) override {
    LZ_CHECK(rows.size() == slots.size(), rows.size(), " rows for ", slots.size(), " slots");
    if (slots.empty()) return;
    const at::NoGradGuard no_grad;
    ScatterTensor(slots, at::index_select(TokensAt(tokens, count, device()), 0,
                                          IndexTensor(rows, /*which=*/1)));
  }

  void CopyNumbers(absl::Span<const int64_t> numbers, int64_t* out) override {
    if (numbers.empty()) return;
    const auto count = static_cast<int64_t>(numbers.size());
    const auto integers = at::TensorOptions().dtype(at::kLong);
    // Pageable memory: the driver takes its copy of it before the call returns, so the caller may
    // change `numbers` at once, and the device is not waited for.
    View(out, {count}, integers.device(device()))
        .copy_(View(numbers.data(), {count}, integers.device(at::kCPU)), /*non_blocking=*/true);
  }

  void Read(absl::Span<const int64_t> slots, float* out) override {
    if (slots.empty()) return;
    const at::NoGradGuard no_grad;
    TokensAt(out, static_cast<int64_t>(slots.size()), at::kCPU)
        .copy_(at::index_select(slots_, 0, IndexTensor(slots)));
  }

  void Write(absl::Span<const int64_t> slots, const float* rows) override {
    if (slots.empty()) return;
    const at::Tensor on_host = TokensAt(rows, static_cast<int64_t>(slots.size()), at::kCPU);
    ScatterTensor(slots, on_host.to(device(), at::kFloat, /*non_blocking=*/true));
  }

  absl::Status Grow(int64_t num_slots) override {
    if (num_slots <= this->num_slots()) return absl::OkStatus();
    return CatchTorch([&] {
      at::Tensor larger = Zeros(num_slots, device());
      larger.narrow(0, 0, this->num_slots()).copy_(slots_, /*non_blocking=*/true);
      slots_ = std::move(larger);
    });
  }

  int64_t num_slots() const override { return slots_.size(0); }
  int64_t bytes() const override {
    return num_slots() * token_size_ * static_cast<int64_t>(sizeof(float));
  }
  const void* address() const override { return slots_.const_data_ptr(); }

 private:
  at::Device device() const { return slots_.device(); }

  // Outside of inference mode, so that it can be written in either.
  at::Tensor Zeros(int64_t num_slots, at::Device device) const {
    const c10::InferenceMode normal_mode(false);
    return at::zeros({num_slots, token_size_}, Floats(device));
  }

  at::Tensor TokensAt(const float* tokens, int64_t count, at::Device device) const {
    return View(tokens, {count, token_size_}, Floats(device));
  }

  void ScatterTensor(absl::Span<const int64_t> slots, const at::Tensor& rows) {
    const at::NoGradGuard no_grad;
    slots_.index_copy_(0, IndexTensor(slots), rows);
  }

  // `numbers` in a tensor on the device, one of two that are kept for the next call.
  at::Tensor IndexTensor(absl::Span<const int64_t> numbers, int which = 0) {
    const auto count = static_cast<int64_t>(numbers.size());
    at::Tensor& index = index_[which];
    if (!index.defined() || index.size(0) < count) {
      const c10::InferenceMode normal_mode(false);
      index = at::empty({count}, Floats(device()).dtype(at::kLong));
    }
    CopyNumbers(numbers, index.mutable_data_ptr<int64_t>());
    return index.narrow(0, 0, count);
  }

  int64_t token_size_;   // elements
  at::Tensor slots_;     // [num_slots, token_size_]
  at::Tensor index_[2];  // [largest call so far] int64
};

Device DeviceOf(const at::Tensor& tensor) {
  return tensor.is_cpu() ? Device::kCpu : Device{Device::Kind::kCuda, tensor.get_device()};
}

}  // namespace

MakeTokenPool TensorTokenPools(at::Device device) {
  return [device](const KVCacheShape& shape, int64_t num_slots) {
    return CatchTorch([&]() -> absl::StatusOr<std::unique_ptr<TokenPool>> {
      return std::make_unique<TensorTokenPool>(shape, num_slots, device);
    });
  };
}

Rows<float> FloatRows(const at::Tensor& tensor) {
  LZ_CHECK(tensor.is_contiguous() && tensor.scalar_type() == at::kFloat, "rows in a tensor of ",
           tensor.toString(), ", contiguous: ", tensor.is_contiguous());
  int64_t row_size = 1;
  for (const int64_t length : tensor.sizes().slice(1)) row_size *= length;
  return {tensor.data_ptr<float>(), tensor.size(0), row_size, DeviceOf(tensor)};
}

ContextBatch ContextsIn(const at::Tensor& tokens, const at::Tensor& lengths) {
  LZ_CHECK(lengths.is_contiguous() && lengths.scalar_type() == at::kLong, lengths.toString());
  return {FloatRows(tokens), {lengths.data_ptr<int64_t>(), lengths.size(0), 1, DeviceOf(lengths)}};
}

}  // namespace lzero
