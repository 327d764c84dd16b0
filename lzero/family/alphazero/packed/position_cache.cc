#include "lzero/family/alphazero/packed/position_cache.h"

#include <algorithm>
#include <bit>

#include "lzero/base/check.h"

namespace lzero {
namespace {

size_t CapacityOf(int64_t least) { return std::bit_ceil(static_cast<uint64_t>(least)); }

// The finaliser of splitmix64 [Steele et al. 2014].
uint64_t Mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace

PositionCache::PositionCache(int64_t least_capacity, int64_t width)
    : width_(static_cast<size_t>(width)),
      keys_(CapacityOf(least_capacity)),
      known_(keys_.size()),
      numbers_(keys_.size() * width_) {}

int64_t PositionCache::Bytes(int64_t least_capacity, int64_t width) {
  const auto place =
      static_cast<int64_t>(sizeof(Key) + 1) + width * static_cast<int64_t>(sizeof(float));
  return static_cast<int64_t>(CapacityOf(least_capacity)) * place;
}

PositionCache::Key PositionCache::KeyOf(absl::Span<const float> observation) {
  Key key = {observation.size(), ~observation.size()};
  for (const float number : observation) {
    const auto bits = std::bit_cast<uint32_t>(number);
    key.place = Mixed(key.place + bits + 0x9e3779b97f4a7c15u);
    key.rest = (key.rest ^ bits) * 0xd6e8feb86659fd93u;
    key.rest ^= key.rest >> 32;
  }
  return key;
}

const float* PositionCache::Find(const Key& key) const {
  const size_t place = PlaceOf(key);
  return known_[place] != 0 && keys_[place] == key ? &numbers_[place * width_] : nullptr;
}

void PositionCache::Keep(const Key& key, absl::Span<const float> numbers) {
  LZ_CHECK(numbers.size() == width_, numbers.size(), " numbers for ", width_);
  const size_t place = PlaceOf(key);
  keys_[place] = key;
  known_[place] = 1;
  std::copy(numbers.begin(), numbers.end(),
            numbers_.begin() + static_cast<int64_t>(place * width_));
}

void PositionCache::Clear() { std::fill(known_.begin(), known_.end(), uint8_t{0}); }

}  // namespace lzero
