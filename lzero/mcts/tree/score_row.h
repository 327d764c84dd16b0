// The scores of the actions of one node while the best is looked for: in memory where their number
// is not known when this is compiled, else in registers. Both take the same action. Not the scores
// themselves (select.h). Belongs to one thread.
#ifndef LZERO_MCTS_TREE_SCORE_ROW_H_
#define LZERO_MCTS_TREE_SCORE_ROW_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"

namespace lzero {
inline namespace LZ_LANES_NAMESPACE {

// Any number of groups of lanes; `scratch` [P] is written.
template <int NumGroups>
class ScoreRow {
 public:
  LZ_HOST_DEVICE explicit ScoreRow(float* scratch) : scratch_(scratch) {}

  // The scores of actions first_index .. first_index + 3; groups come in order.
  LZ_HOST_DEVICE void Add(Float4 scores, int first_index) {
    scores_[first_index / kLanes] = scores;
    best_ = Max(scores, best_);
  }
  LZ_HOST_DEVICE float best() const { return MaxLanes(best_)[0]; }
  // The first action that has the best score; 0 when none is above -infinity.
  LZ_HOST_DEVICE int FirstBest() const {
    const Float4 best = MaxLanes(best_);
    uint64_t equal = 0;
    LZ_UNROLL
    for (int g = 0; g < NumGroups; ++g) {
      equal |= static_cast<uint64_t>(MaskBits(scores_[g] == best)) << (g * kLanes);
    }
    return equal != 0 && best[0] > -kInfinity ? __builtin_ctzll(equal) : 0;
  }
  // [P] all scores.
  LZ_HOST_DEVICE const float* InMemory() const {
    LZ_UNROLL
    for (int g = 0; g < NumGroups; ++g) Store(scores_[g], scratch_ + g * kLanes);
    return scratch_;
  }

 private:
  static_assert(NumGroups >= 0 && NumGroups * kLanes <= 64, "one bit an action");

  Float4 scores_[NumGroups];
  Float4 best_ = Fill(-kInfinity);
  float* scratch_;
};

template <>
class ScoreRow<0> {
 public:
  LZ_HOST_DEVICE explicit ScoreRow(float* scratch) : scratch_(scratch) {}

  LZ_HOST_DEVICE void Add(Float4 scores, int first_index) {
    Store(scores, scratch_ + first_index);
    maximum_.Add(scores, first_index);
  }
  LZ_HOST_DEVICE float best() const { return maximum_.best(); }
  LZ_HOST_DEVICE int FirstBest() const { return maximum_.index(); }
  LZ_HOST_DEVICE const float* InMemory() const { return scratch_; }

 private:
  FirstMaximum maximum_;
  float* scratch_;
};

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SCORE_ROW_H_
