// All cached tokens of a manager, one tensor [num_slots, L, 2, E] float32. Slot 0 is zeros for
// ever: positions before a context's first token read it. Not an index: callers say which slots.
// On the CPU copies are plain memory copies; elsewhere index operations on fixed index tensors.
// All tensors float32 on the pool's device unless said; no gradients. Belongs to one thread; never
// synchronises a device.
#ifndef LZERO_KV_CACHE_INTERNAL_TOKEN_POOL_H_
#define LZERO_KV_CACHE_INTERNAL_TOKEN_POOL_H_

#include <cstdint>
#include <memory>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/kv_cache/kv_cache.h"

namespace lzero::internal {

// How tokens are moved. kDirect needs the CPU; kIndexOperations works on every device.
enum class CopyMethod { kDirect, kIndexOperations };

class TokenPool {
 public:
  // Zeroed. Errors of CreateTokenTensor.
  static absl::StatusOr<std::unique_ptr<TokenPool>> Create(const KVCacheShape& shape,
                                                           int64_t num_slots, at::Device device,
                                                           CopyMethod method);

  // Copies slot slots[i] into row i of `out`, a contiguous tensor whose first elements are the rows
  // [slots.size(), L, 2, E]. Allocates no tensor memory after the first call of its size.
  void GatherInto(absl::Span<const int64_t> slots, const at::Tensor& out);
  // Copies row i of contiguous `rows` [>= slots.size(), L, 2, E in all] into slot slots[i]; slots
  // differ and are not 0. Allocates as GatherInto.
  void Scatter(absl::Span<const int64_t> slots, const at::Tensor& rows);
  // Copies row rows[i] of contiguous `tokens` [n, L, 2, E] into slot slots[i]; slots differ and are
  // not 0.
  void CopyRows(absl::Span<const int64_t> rows, const at::Tensor& tokens,
                absl::Span<const int64_t> slots);
  // Copies host numbers [n] into the first n elements of `out`, int64 and contiguous.
  void CopyNumbers(absl::Span<const int64_t> numbers, const at::Tensor& out);

  // At least `num_slots` slots, contents kept; the address changes. On an error nothing has.
  absl::Status Grow(int64_t num_slots);

  at::Device device() const { return slots_.device(); }
  int64_t num_slots() const { return slots_.size(0); }
  int64_t bytes() const { return num_slots() * token_bytes_; }
  const void* address() const { return slots_.const_data_ptr(); }

 private:
  TokenPool(at::Tensor slots, CopyMethod method);

  // `numbers` in a tensor on the device, one of two that are kept for the next call.
  at::Tensor IndexTensor(absl::Span<const int64_t> numbers, int which = 0);

  at::Tensor slots_;
  CopyMethod method_;
  int64_t token_size_;   // elements
  int64_t token_bytes_;  // bytes
  at::Tensor index_[2];  // [largest call so far] int64
};

}  // namespace lzero::internal

#endif  // LZERO_KV_CACHE_INTERNAL_TOKEN_POOL_H_
