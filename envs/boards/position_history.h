// The positions that a game has been in, by their hashes, for rules about repetition. A small
// filter answers most questions; what passes it is compared with every position. Copying is cheap.
// One thread at a time.
#ifndef LZERO_ENVS_BOARDS_POSITION_HISTORY_H_
#define LZERO_ENVS_BOARDS_POSITION_HISTORY_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace lzero {

class PositionHistory {
 public:
  bool Contains(uint64_t hash) const {
    if ((filter_[hash >> 6 & (kNumWords - 1)] >> (hash & 63) & 1) == 0) return false;
    return std::find(hashes_.begin(), hashes_.end(), hash) != hashes_.end();
  }

  // Whether it was there before.
  bool Add(uint64_t hash) {
    if (Contains(hash)) return true;
    filter_[hash >> 6 & (kNumWords - 1)] |= uint64_t{1} << (hash & 63);
    hashes_.push_back(hash);
    return false;
  }

 private:
  static constexpr uint64_t kNumWords = 64;

  std::array<uint64_t, kNumWords> filter_ = {};
  std::vector<uint64_t> hashes_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_POSITION_HISTORY_H_
