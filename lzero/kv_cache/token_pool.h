// All cached tokens of a manager, [num_slots, L, 2, E] float32 in the memory of one device. Slot 0
// is zeros for ever: positions before a context's first token read it. Not an index: callers say
// which slots. On the host copies are plain memory copies; tensor/tensor_token_pool.h is a pool
// elsewhere. Belongs to one thread; only Read waits for a device.
#ifndef LZERO_KV_CACHE_TOKEN_POOL_H_
#define LZERO_KV_CACHE_TOKEN_POOL_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"

namespace lzero {

struct KVCacheShape {
  int64_t num_layers = 0;  // L
  int64_t embed_dim = 0;   // E

  int64_t token_size() const { return num_layers * 2 * embed_dim; }  // floats of [L, 2, E]
};

// Pointers point into the memory of the pool's device unless said.
class TokenPool {
 public:
  virtual ~TokenPool() = default;

  // Copies slot slots[i] to row i of `out` [slots.size(), L, 2, E]. Allocates no memory for tokens
  // after the first call of its size.
  virtual void GatherInto(absl::Span<const int64_t> slots, float* out) = 0;
  // Copies row i of `rows` [slots.size(), L, 2, E] into slot slots[i]; slots differ and are not 0.
  // Allocates as GatherInto.
  virtual void Scatter(absl::Span<const int64_t> slots, const float* rows) = 0;
  // Copies row rows[i] of `tokens` [count, L, 2, E] into slot slots[i]; slots differ and are not 0.
  virtual void CopyRows(absl::Span<const int64_t> rows, const float* tokens, int64_t count,
                        absl::Span<const int64_t> slots) = 0;
  // Copies numbers of the host to `out`.
  virtual void CopyNumbers(absl::Span<const int64_t> numbers, int64_t* out) = 0;
  // GatherInto and Scatter for `out` and `rows` in memory of the host.
  virtual void Read(absl::Span<const int64_t> slots, float* out) = 0;
  virtual void Write(absl::Span<const int64_t> slots, const float* rows) = 0;

  // At least `num_slots` slots, contents kept; the address changes. On an error nothing has.
  virtual absl::Status Grow(int64_t num_slots) = 0;

  virtual int64_t num_slots() const = 0;
  virtual int64_t bytes() const = 0;
  virtual const void* address() const = 0;
};

// Makes a pool of zeros. ResourceExhausted when there is too little memory.
using MakeTokenPool = std::function<absl::StatusOr<std::unique_ptr<TokenPool>>(
    const KVCacheShape& shape, int64_t num_slots)>;

}  // namespace lzero

#endif  // LZERO_KV_CACHE_TOKEN_POOL_H_
