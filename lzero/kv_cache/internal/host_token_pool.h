// The pool of a cache on the CPU.
#ifndef LZERO_KV_CACHE_INTERNAL_HOST_TOKEN_POOL_H_
#define LZERO_KV_CACHE_INTERNAL_HOST_TOKEN_POOL_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/kv_cache/token_pool.h"

namespace lzero::internal {

class HostTokenPool : public TokenPool {
 public:
  // Zeroed. ResourceExhausted when the machine has too little memory, InvalidArgument for sizes
  // that 64 bits cannot count.
  static absl::StatusOr<std::unique_ptr<TokenPool>> Create(const KVCacheShape& shape,
                                                           int64_t num_slots);

  void GatherInto(absl::Span<const int64_t> slots, float* out) override;
  void Scatter(absl::Span<const int64_t> slots, const float* rows) override;
  void CopyRows(absl::Span<const int64_t> rows, const float* tokens, int64_t count,
                absl::Span<const int64_t> slots) override;
  void CopyNumbers(absl::Span<const int64_t> numbers, int64_t* out) override;
  void Read(absl::Span<const int64_t> slots, float* out) override { GatherInto(slots, out); }
  void Write(absl::Span<const int64_t> slots, const float* rows) override { Scatter(slots, rows); }
  absl::Status Grow(int64_t num_slots) override;

  int64_t num_slots() const override { return static_cast<int64_t>(slots_.size()) / token_size_; }
  int64_t bytes() const override {
    return static_cast<int64_t>(slots_.size()) * static_cast<int64_t>(sizeof(float));
  }
  const void* address() const override { return slots_.data(); }

 private:
  HostTokenPool(const KVCacheShape& shape, int64_t num_slots);

  KVCacheShape shape_;
  int64_t token_size_;
  std::vector<float> slots_;  // [num_slots, L, 2, E]
};

}  // namespace lzero::internal

#endif  // LZERO_KV_CACHE_INTERNAL_HOST_TOKEN_POOL_H_
