// Keys and values of one context, one tensor [L][2][capacity][E], tokens contiguous. Move-only:
// Clone is its only copy. Nothing lends the stored memory. Float32; no gradients. Belongs to one
// thread; never synchronises.
#ifndef LZERO_KV_CACHE_KV_CACHE_H_
#define LZERO_KV_CACHE_KV_CACHE_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

struct KVCacheShape {
  int64_t num_layers = 0;  // L
  int64_t embed_dim = 0;   // E
};

class KVCache {
 public:
  // `storage` kStatic: address and capacity are fixed for life. kGrowing: doubles when full,
  // contents kept. InvalidArgument for sizes that are not positive (names them) and for a device
  // that cannot hold tensors; ResourceExhausted when the machine has too little memory.
  static absl::StatusOr<KVCache> Create(CacheStorage storage, const KVCacheShape& shape,
                                        int64_t capacity, at::Device device);
  // The cache moved from is empty with capacity 0; growing storage can be appended to again, static
  // storage refuses in words.
  KVCache(KVCache&& other) noexcept;
  KVCache& operator=(KVCache&& other) noexcept;
  KVCache(const KVCache&) = delete;
  KVCache& operator=(const KVCache&) = delete;
  ~KVCache() = default;

  // Appends tokens [L, 2, n, E] float32 on the same device, any strides (copied). InvalidArgument
  // for another shape, type or device (names both); ResourceExhausted when static storage is full
  // (names the capacity to ask for). On an error nothing has changed.
  absl::Status Append(const at::Tensor& tokens);
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
  // A copy of tokens begin .. begin + count - 1, [L, 2, count, E] float32; the range must lie
  // inside.
  at::Tensor CopyTokens(int64_t begin, int64_t count) const;

  int64_t size() const { return size_; }
  int64_t prefix_size() const { return prefix_size_; }
  int64_t capacity() const;
  CacheStorage kind() const { return storage_; }
  const KVCacheShape& shape() const { return shape_; }
  at::Device device() const { return device_; }
  int64_t bytes() const;
  // Version of the weights that computed the tokens; of the oldest where they differ.
  int64_t weight_version() const { return weight_version_; }
  void set_weight_version(int64_t version) { weight_version_ = version; }
  // Where the tokens begin (null after being moved from), to check that it stays.
  const void* storage_address() const;

 private:
  KVCache(CacheStorage storage, const KVCacheShape& shape, at::Device device, at::Tensor tokens);

  absl::Status GrowTo(int64_t capacity);

  CacheStorage storage_;
  KVCacheShape shape_;
  at::Device device_;
  at::Tensor tokens_;  // [L, 2, capacity, E]; undefined after being moved from
  int64_t size_ = 0;
  int64_t prefix_size_ = 0;
  int64_t weight_version_ = 0;
};

}  // namespace lzero

#endif  // LZERO_KV_CACHE_KV_CACHE_H_
