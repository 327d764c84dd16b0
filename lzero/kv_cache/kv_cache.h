// Keys and values of one context in memory of the host, [L][2][capacity][E], tokens contiguous.
// Move-only: Clone is its only copy. Nothing lends the stored memory. Float32. Belongs to one
// thread.
#ifndef LZERO_KV_CACHE_KV_CACHE_H_
#define LZERO_KV_CACHE_KV_CACHE_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/experiment_config.h"
#include "lzero/kv_cache/token_pool.h"

namespace lzero {

class KVCache {
 public:
  // `storage` kStatic: address and capacity are fixed for life. kGrowing: doubles when full,
  // contents kept. InvalidArgument for sizes that are not positive (names them); ResourceExhausted
  // when the machine has too little memory.
  static absl::StatusOr<KVCache> Create(CacheStorage storage, const KVCacheShape& shape,
                                        int64_t capacity);
  // The cache moved from is empty with capacity 0; growing storage can be appended to again, static
  // storage refuses in words.
  KVCache(KVCache&& other) noexcept;
  KVCache& operator=(KVCache&& other) noexcept;
  KVCache(const KVCache&) = delete;
  KVCache& operator=(const KVCache&) = delete;
  ~KVCache() = default;

  // Appends tokens [n, L, 2, E]. InvalidArgument for no whole number of them; ResourceExhausted
  // when static storage is full (names the capacity to ask for). On an error nothing has changed.
  absl::Status Append(absl::Span<const float> tokens);
  // What is in it now becomes the prefix.
  void Advance() { prefix_size_ = size_; }
  // Back to the prefix; no memory is touched.
  void ResetSuffix() { size_ = prefix_size_; }
  // Empty, no prefix, weight version 0; capacity and address stay. Defined in every state, also
  // moved-from.
  void Reset();
  // Room for at least `capacity` tokens in all; a smaller number changes nothing.
  // FailedPrecondition for static storage; InvalidArgument for a negative number.
  absl::Status Reserve(int64_t capacity);
  // A deep copy of the same kind and capacity: no memory is shared.
  KVCache Clone() const;
  // A copy of tokens begin .. begin + count - 1, [count, L, 2, E]; the range must lie inside.
  std::vector<float> CopyTokens(int64_t begin, int64_t count) const;

  int64_t size() const { return size_; }
  int64_t prefix_size() const { return prefix_size_; }
  int64_t capacity() const { return capacity_; }
  CacheStorage kind() const { return storage_; }
  const KVCacheShape& shape() const { return shape_; }
  int64_t bytes() const;
  // Version of the weights that computed the tokens; of the oldest where they differ.
  int64_t weight_version() const { return weight_version_; }
  void set_weight_version(int64_t version) { weight_version_ = version; }
  // Where the tokens begin (null after being moved from), to check that it stays.
  const void* storage_address() const { return tokens_.empty() ? nullptr : tokens_.data(); }

 private:
  KVCache(CacheStorage storage, const KVCacheShape& shape, int64_t capacity);

  absl::Status GrowTo(int64_t capacity);
  // Row of E numbers of token `token`, part `part` of 2 L.
  float* RowOf(int64_t part, int64_t token) {
    return tokens_.data() + (part * capacity_ + token) * shape_.embed_dim;
  }

  CacheStorage storage_;
  KVCacheShape shape_;
  int64_t capacity_;
  std::vector<float> tokens_;  // [L, 2, capacity, E]
  int64_t size_ = 0;
  int64_t prefix_size_ = 0;
  int64_t weight_version_ = 0;
};

}  // namespace lzero

#endif  // LZERO_KV_CACHE_KV_CACHE_H_
