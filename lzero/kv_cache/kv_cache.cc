#include "lzero/kv_cache/kv_cache.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"
#include "lzero/kv_cache/internal/token_sizes.h"

namespace lzero {
namespace {

absl::Status CheckCapacity(const KVCacheShape& shape, int64_t capacity) {
  return internal::CheckFitsMemory({shape.num_layers, 2, capacity, shape.embed_dim});
}

}  // namespace

absl::StatusOr<KVCache> KVCache::Create(CacheStorage storage, const KVCacheShape& shape,
                                        int64_t capacity) {
  LZ_RETURN_IF_ERROR(internal::CheckPositive("num_layers", shape.num_layers));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("embed_dim", shape.embed_dim));
  LZ_RETURN_IF_ERROR(internal::CheckPositive("capacity", capacity));
  LZ_RETURN_IF_ERROR(CheckCapacity(shape, capacity));
  return KVCache(storage, shape, capacity);
}

KVCache::KVCache(CacheStorage storage, const KVCacheShape& shape, int64_t capacity)
    : storage_(storage),
      shape_(shape),
      capacity_(capacity),
      tokens_(static_cast<size_t>(capacity * shape.token_size())) {}

KVCache::KVCache(KVCache&& other) noexcept
    : storage_(other.storage_),
      shape_(other.shape_),
      capacity_(std::exchange(other.capacity_, 0)),
      tokens_(std::exchange(other.tokens_, {})),
      size_(std::exchange(other.size_, 0)),
      prefix_size_(std::exchange(other.prefix_size_, 0)),
      weight_version_(std::exchange(other.weight_version_, 0)) {}

KVCache& KVCache::operator=(KVCache&& other) noexcept {
  if (this == &other) return *this;
  std::destroy_at(this);
  return *std::construct_at(this, std::move(other));
}

absl::Status KVCache::Append(absl::Span<const float> tokens) {
  const auto given = static_cast<int64_t>(tokens.size());
  const int64_t count = given / shape_.token_size(), needed = size_ + count;
  if (given % shape_.token_size() != 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: ", given, " numbers are appended, must be whole tokens of ",
                     shape_.num_layers, " x 2 x ", shape_.embed_dim));
  }
  if (needed > capacity_) {
    if (storage_ == CacheStorage::kStatic) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "KV cache: static storage holds ", size_, " of ", capacity_, " tokens, ", count,
          " more do not fit; ask for a capacity of at least ", needed, " when it is created"));
    }
    LZ_RETURN_IF_ERROR(GrowTo(std::max(needed, 2 * capacity_)));
  }
  const float* from = tokens.data();
  for (; size_ < needed; ++size_) {
    for (int64_t part = 0; part < 2 * shape_.num_layers; ++part, from += shape_.embed_dim) {
      std::copy_n(from, shape_.embed_dim, RowOf(part, size_));
    }
  }
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
        "KV cache: Reserve(", capacity, ") of static storage with capacity ", capacity_,
        ": its address is fixed; use growing storage or create it with that capacity"));
  }
  if (capacity < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("KV cache: Reserve(", capacity, "): must be at least 0"));
  }
  return capacity > capacity_ ? GrowTo(capacity) : absl::OkStatus();
}

absl::Status KVCache::GrowTo(int64_t capacity) {
  LZ_RETURN_IF_ERROR(CheckCapacity(shape_, capacity));
  KVCache larger(storage_, shape_, capacity);
  LZ_RETURN_IF_ERROR(larger.Append(CopyTokens(0, size_)));
  std::swap(tokens_, larger.tokens_);
  capacity_ = capacity;
  return absl::OkStatus();
}

KVCache KVCache::Clone() const {
  KVCache copy(storage_, shape_, capacity_);
  copy.tokens_ = tokens_;
  copy.size_ = size_;
  copy.prefix_size_ = prefix_size_;
  copy.weight_version_ = weight_version_;
  return copy;
}

std::vector<float> KVCache::CopyTokens(int64_t begin, int64_t count) const {
  LZ_CHECK(begin >= 0 && count >= 0 && begin + count <= size_, "tokens ", begin, " .. ",
           begin + count, " of ", size_);
  std::vector<float> copy;
  copy.reserve(static_cast<size_t>(count * shape_.token_size()));
  for (int64_t token = begin; token < begin + count; ++token) {
    for (int64_t part = 0; part < 2 * shape_.num_layers; ++part) {
      const float* row = tokens_.data() + (part * capacity_ + token) * shape_.embed_dim;
      copy.insert(copy.end(), row, row + shape_.embed_dim);
    }
  }
  return copy;
}

int64_t KVCache::bytes() const {
  return capacity_ * shape_.token_size() * static_cast<int64_t>(sizeof(float));
}

}  // namespace lzero
