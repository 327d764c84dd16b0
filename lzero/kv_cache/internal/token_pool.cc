#include "lzero/kv_cache/internal/token_pool.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/empty.h"
#include "ATen/ops/from_blob.h"
#include "ATen/ops/index_select.h"
#include "absl/memory/memory.h"
#include "c10/core/InferenceMode.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/token_tensor.h"

namespace lzero::internal {
namespace {

// Slots from `begin` on that lie one after the other: they move in one copy.
size_t RunLength(absl::Span<const int64_t> slots, size_t begin) {
  size_t end = begin + 1;
  while (end < slots.size() && slots[end] == slots[end - 1] + 1) ++end;
  return end - begin;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenPool>> TokenPool::Create(const KVCacheShape& shape,
                                                             int64_t num_slots, at::Device device,
                                                             CopyMethod method) {
  LZ_CHECK(method != CopyMethod::kDirect || device.is_cpu(), "direct copies on ", device.str());
  LZ_ASSIGN_OR_RETURN(at::Tensor slots,
                      CreateTokenTensor({num_slots, shape.num_layers, 2, shape.embed_dim}, device));
  return absl::WrapUnique(new TokenPool(std::move(slots), method));
}

TokenPool::TokenPool(at::Tensor slots, CopyMethod method)
    : slots_(std::move(slots)),
      method_(method),
      token_size_(slots_.stride(0)),
      token_bytes_(token_size_ * static_cast<int64_t>(sizeof(float))) {}

void TokenPool::GatherInto(absl::Span<const int64_t> slots, const at::Tensor& out) {
  if (slots.empty()) return;
  if (method_ == CopyMethod::kIndexOperations) {
    const at::NoGradGuard no_grad;
    const auto rows = static_cast<int64_t>(slots.size());
    at::Tensor out_rows = out.view({-1, token_size_}).narrow(0, 0, rows);
    at::index_select_out(out_rows, slots_.view({-1, token_size_}), 0, IndexTensor(slots));
    return;
  }
  const float* from = slots_.const_data_ptr<float>();
  float* to = out.mutable_data_ptr<float>();
  for (size_t i = 0; i < slots.size();) {
    const size_t run = RunLength(slots, i);
    std::memcpy(to + i * token_size_, from + slots[i] * token_size_, run * token_bytes_);
    i += run;
  }
}

void TokenPool::Scatter(absl::Span<const int64_t> slots, const at::Tensor& rows) {
  if (slots.empty()) return;
  if (method_ == CopyMethod::kIndexOperations) {
    const at::NoGradGuard no_grad;
    const auto count = static_cast<int64_t>(slots.size());
    slots_.view({-1, token_size_})
        .index_copy_(0, IndexTensor(slots), rows.view({-1, token_size_}).narrow(0, 0, count));
    return;
  }
  const float* from = rows.const_data_ptr<float>();
  float* to = slots_.mutable_data_ptr<float>();
  for (size_t i = 0; i < slots.size();) {
    const size_t run = RunLength(slots, i);
    std::memcpy(to + slots[i] * token_size_, from + i * token_size_, run * token_bytes_);
    i += run;
  }
}

void TokenPool::CopyRows(absl::Span<const int64_t> rows, const at::Tensor& tokens,
                         absl::Span<const int64_t> slots) {
  LZ_CHECK(rows.size() == slots.size(), rows.size(), " rows for ", slots.size(), " slots");
  if (slots.empty()) return;
  if (method_ == CopyMethod::kIndexOperations) {
    const at::NoGradGuard no_grad;
    const at::Tensor chosen =
        at::index_select(tokens.view({-1, token_size_}), 0, IndexTensor(rows, 1));
    slots_.view({-1, token_size_}).index_copy_(0, IndexTensor(slots), chosen);
    return;
  }
  const float* from = tokens.const_data_ptr<float>();
  float* to = slots_.mutable_data_ptr<float>();
  for (size_t i = 0; i < slots.size();) {
    const size_t run = std::min(RunLength(slots, i), RunLength(rows, i));
    std::memcpy(to + slots[i] * token_size_, from + rows[i] * token_size_, run * token_bytes_);
    i += run;
  }
}

void TokenPool::CopyNumbers(absl::Span<const int64_t> numbers, const at::Tensor& out) {
  if (numbers.empty()) return;
  if (out.is_cpu()) {
    std::memcpy(out.mutable_data_ptr<int64_t>(), numbers.data(), numbers.size() * sizeof(int64_t));
    return;
  }
  // Pageable memory: the driver takes its copy of it before the call returns, so the caller may
  // change `numbers` at once, and the device is not waited for.
  const auto count = static_cast<int64_t>(numbers.size());
  out.narrow(0, 0, count)
      .copy_(at::from_blob(const_cast<int64_t*>(numbers.data()), {count}, at::kLong),
             /*non_blocking=*/true);
}

at::Tensor TokenPool::IndexTensor(absl::Span<const int64_t> numbers, int which) {
  const auto count = static_cast<int64_t>(numbers.size());
  at::Tensor& index = index_[which];
  if (!index.defined() || index.size(0) < count) {
    const c10::InferenceMode normal_mode(false);
    index = at::empty({count}, at::TensorOptions().dtype(at::kLong).device(device()));
  }
  CopyNumbers(numbers, index);
  return index.narrow(0, 0, count);
}

absl::Status TokenPool::Grow(int64_t num_slots) {
  if (num_slots <= this->num_slots()) return absl::OkStatus();
  LZ_ASSIGN_OR_RETURN(at::Tensor larger,
                      CreateTokenTensor({num_slots, slots_.size(1), 2, slots_.size(3)}, device()));
  larger.narrow(0, 0, this->num_slots()).copy_(slots_, /*non_blocking=*/true);
  slots_ = std::move(larger);
  return absl::OkStatus();
}

}  // namespace lzero::internal
