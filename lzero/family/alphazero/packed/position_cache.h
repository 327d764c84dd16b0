// What a network said of positions, by the numbers that it saw: the next move's search meets most
// of the positions below the move again, and games that begin alike share their openings. A
// position is known by 128 bits of a hash, a place of the table holds the last one that fell on it.
// Forgets nothing by itself: the caller must call Clear when the weights change. Allocates once.
// Belongs to one thread.
#ifndef LZERO_FAMILY_ALPHAZERO_PACKED_POSITION_CACHE_H_
#define LZERO_FAMILY_ALPHAZERO_PACKED_POSITION_CACHE_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"

namespace lzero {

class PositionCache {
 public:
  struct Key {
    uint64_t place = 0, rest = 0;
    bool operator==(const Key& other) const = default;
  };

  // Room for `least_capacity` positions or more, `width` numbers said of each.
  PositionCache(int64_t least_capacity, int64_t width);
  static int64_t Bytes(int64_t least_capacity, int64_t width);

  static Key KeyOf(absl::Span<const float> observation);
  // Numbers [width], until the next Keep; null: not known.
  const float* Find(const Key& key) const;
  void Keep(const Key& key, absl::Span<const float> numbers);
  void Clear();

 private:
  size_t PlaceOf(const Key& key) const { return key.place & (keys_.size() - 1); }

  size_t width_;
  std::vector<Key> keys_;       // [capacity], a power of two
  std::vector<uint8_t> known_;  // [capacity]
  std::vector<float> numbers_;  // [capacity, width]
};

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_PACKED_POSITION_CACHE_H_
