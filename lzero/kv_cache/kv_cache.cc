#include "lzero/kv_cache/kv_cache.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "ATen/core/grad_mode.h"
#include "ATen/ops/empty.h"
#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/token_tensor.h"

namespace lzero {
namespace {

constexpr int kTokenAxis = 2;

absl::StatusOr<at::Tensor> CreateTokens(const KVCacheShape& shape, int64_t capacity,
                                        at::Device device) {
  return internal::CreateTokenTensor({shape.num_layers, 2, capacity, shape.embed_dim}, device);
}

}  // namespace

absl::StatusOr<KVCache> KVCache::Create(CacheStorage storage, const KVCacheShape& shape,
                                        int64_t capacity, at::Device device) {
  LZ_RETURN_IF_ERROR(internal::CheckPositive("num_layers", shape.num_layers));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("embed_dim", shape.embed_dim));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("capacity", capacity));
  LZ_ASSIGN_OR_RETURN(at::Tensor tokens, CreateTokens(shape, capacity, device));
  const at::Device placed = tokens.device();  // with its index: cuda -> cuda:0
  return KVCache(storage, shape, placed, std::move(tokens));
}

KVCache::KVCache(CacheStorage storage, const KVCacheShape& shape, at::Device device,
                 at::Tensor tokens)
    : storage_(storage), shape_(shape), device_(device), tokens_(std::move(tokens)) {}

KVCache::KVCache(KVCache&& other) noexcept
    : storage_(other.storage_),
      shape_(other.shape_),
      device_(other.device_),
      tokens_(std::exchange(other.tokens_, at::Tensor())),
      size_(std::exchange(other.size_, 0)),
      prefix_size_(std::exchange(other.prefix_size_, 0)),
      weight_version_(std::exchange(other.weight_version_, 0)) {}

KVCache& KVCache::operator=(KVCache&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

absl::Status KVCache::Append(const at::Tensor& tokens) {
  LZ_RETURN_IF_ERROR(
      internal::CheckTensor("KV cache: appended tokens", tokens, at::kFloat,
                            {shape_.num_layers, 2, internal::kAnySize, shape_.embed_dim}, device_));
  const int64_t count = tokens.size(kTokenAxis);
  const int64_t needed = size_ + count;
  if (needed > capacity()) {
    if (storage_ == CacheStorage::kStatic) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "KV cache: static storage holds ", size_, " of ", capacity(), " tokens, ", count,
          " more do not fit; ask for a capacity of at least ", needed, " when it is created"));
    }
    LZ_RETURN_IF_ERROR(GrowTo(std::max(needed, 2 * capacity())));
  }
  if (count > 0) {
    const at::NoGradGuard no_grad;
    tokens_.narrow(kTokenAxis, size_, count).copy_(tokens, /*non_blocking=*/true);
  }
  size_ = needed;
  return absl::OkStatus();
}

void KVCache::Reset() {
  size_ = 0;
  prefix_size_ = 0;
  weight_version_ = 0;
}

absl::Status KVCache::Reserve(int64_t capacity) {
  if (storage_ == CacheStorage::kStatic) {
    return absl::FailedPreconditionError(absl::StrCat(
        "KV cache: Reserve(", capacity, ") of static storage with capacity ", this->capacity(),
        ": its address is fixed; use growing storage or create it with that capacity"));
  }
  if (capacity < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: Reserve(", capacity, "): must be at least 0"));
  }
  return capacity > this->capacity() ? GrowTo(capacity) : absl::OkStatus();
}

absl::Status KVCache::GrowTo(int64_t capacity) {
  LZ_ASSIGN_OR_RETURN(at::Tensor larger, CreateTokens(shape_, capacity, device_));
  if (size_ > 0) {
    larger.narrow(kTokenAxis, 0, size_).copy_(tokens_.narrow(kTokenAxis, 0, size_));
  }
  tokens_ = std::move(larger);
  return absl::OkStatus();
}

KVCache KVCache::Clone() const {
  // Without storage (moved from) the copy has none either.
  KVCache copy(storage_, shape_, device_, at::Tensor());
  if (tokens_.defined()) {
    absl::StatusOr<at::Tensor> tokens = CreateTokens(shape_, capacity(), device_);
    LZ_CHECK(tokens.ok(), tokens.status().ToString());
    copy.tokens_ = *std::move(tokens);
    copy.tokens_.narrow(kTokenAxis, 0, size_).copy_(tokens_.narrow(kTokenAxis, 0, size_));
  }
  copy.size_ = size_;
  copy.prefix_size_ = prefix_size_;
  copy.weight_version_ = weight_version_;
  return copy;
}

at::Tensor KVCache::CopyTokens(int64_t begin, int64_t count) const {
  LZ_CHECK(begin >= 0 && count >= 0 && begin + count <= size_, "tokens ", begin, " .. ",
           begin + count, " of ", size_);
  at::Tensor copy = at::empty({shape_.num_layers, 2, count, shape_.embed_dim},
                              at::TensorOptions().dtype(at::kFloat).device(device_));
  if (count > 0) copy.copy_(tokens_.narrow(kTokenAxis, begin, count));
  return copy;
}

int64_t KVCache::capacity() const { return tokens_.defined() ? tokens_.size(kTokenAxis) : 0; }

int64_t KVCache::bytes() const {
  return capacity() * shape_.num_layers * 2 * shape_.embed_dim *
         static_cast<int64_t>(sizeof(float));
}

const void* KVCache::storage_address() const {
  return tokens_.defined() ? tokens_.const_data_ptr() : nullptr;
}

}  // namespace lzero
