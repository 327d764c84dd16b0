#include "lzero/kv_cache/internal/host_token_pool.h"

#include <algorithm>

#include "absl/memory/memory.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/token_sizes.h"

namespace lzero::internal {
namespace {

// Slots from `begin` on that lie one after the other: they move in one copy.
size_t RunLength(absl::Span<const int64_t> slots, size_t begin) {
  size_t end = begin + 1;
  while (end < slots.size() && slots[end] == slots[end - 1] + 1) ++end;
  return end - begin;
}

}  // namespace

absl::StatusOr<std::unique_ptr<TokenPool>> HostTokenPool::Create(const KVCacheShape& shape,
                                                                 int64_t num_slots) {
  LZ_RETURN_IF_ERROR(CheckFitsMemory({num_slots, shape.num_layers, 2, shape.embed_dim}));
  return absl::WrapUnique(new HostTokenPool(shape, num_slots));
}

HostTokenPool::HostTokenPool(const KVCacheShape& shape, int64_t num_slots)
    : shape_(shape),
      token_size_(shape.token_size()),
      slots_(static_cast<size_t>(num_slots * token_size_)) {}

void HostTokenPool::GatherInto(absl::Span<const int64_t> slots, float* out) {
  for (size_t i = 0; i < slots.size();) {
    const size_t run = RunLength(slots, i);
    out = std::copy_n(slots_.data() + slots[i] * token_size_,
                      static_cast<int64_t>(run) * token_size_, out);
    i += run;
  }
}

void HostTokenPool::Scatter(absl::Span<const int64_t> slots, const float* rows) {
  for (size_t i = 0; i < slots.size();) {
    const size_t run = RunLength(slots, i);
    std::copy_n(rows + static_cast<int64_t>(i) * token_size_,
                static_cast<int64_t>(run) * token_size_, slots_.data() + slots[i] * token_size_);
    i += run;
  }
}

void HostTokenPool::CopyRows(absl::Span<const int64_t> rows, const float* tokens, int64_t /*count*/,
                             absl::Span<const int64_t> slots) {
  LZ_CHECK(rows.size() == slots.size(), rows.size(), " rows for ", slots.size(), " slots");
  for (size_t i = 0; i < slots.size();) {
    const size_t run = std::min(RunLength(slots, i), RunLength(rows, i));
    std::copy_n(tokens + rows[i] * token_size_, static_cast<int64_t>(run) * token_size_,
                slots_.data() + slots[i] * token_size_);
    i += run;
  }
}

void HostTokenPool::CopyNumbers(absl::Span<const int64_t> numbers, int64_t* out) {
  std::copy(numbers.begin(), numbers.end(), out);
}

absl::Status HostTokenPool::Grow(int64_t num_slots) {
  if (num_slots <= this->num_slots()) return absl::OkStatus();
  LZ_RETURN_IF_ERROR(CheckFitsMemory({num_slots, shape_.num_layers, 2, shape_.embed_dim}));
  const auto size = static_cast<size_t>(num_slots * token_size_);
  slots_.reserve(size);  // no more than that
  slots_.resize(size);
  return absl::OkStatus();
}

}  // namespace lzero::internal
