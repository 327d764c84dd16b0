// Every stored transition has a leaf here: where it lies, its sampling weight (0 until it is
// eligible), and a generation number that changes when the leaf is given back, so that a handle of
// a former owner is recognised. Holds no transitions itself. Not thread-safe.
#ifndef LZERO_REPLAY_POSITION_INDEX_H_
#define LZERO_REPLAY_POSITION_INDEX_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "lzero/replay/batch/train_batch.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/sum_tree.h"

namespace lzero {

class PositionIndex {
 public:
  // A transition: step `step` of a segment. Null segment: the leaf is free.
  struct Place {
    GameSegment* segment = nullptr;
    int32_t step = 0;
  };

  explicit PositionIndex(int num_leaves);

  static int64_t BytesFor(int64_t num_leaves);

  int num_leaves() const { return tree_.num_leaves(); }
  int64_t num_used() const { return num_touched_ - static_cast<int64_t>(free_.size()); }
  int64_t num_eligible() const { return num_eligible_; }
  double total_weight() const { return tree_.total(); }
  double weight(int leaf) const { return tree_.weight(leaf); }
  const Place& place(int leaf) const { return places_[leaf]; }
  PositionHandle HandleOf(int leaf) const { return {leaf, generations_[leaf]}; }

  // A leaf of weight 0 for this transition: the one given back last, else the lowest never used.
  // There must be one.
  int Allocate(const Place& place);
  // Gives a leaf back; its handles become stale.
  void Release(int leaf);
  // Weight 0 makes a position not eligible.
  void SetWeight(int leaf, double weight);
  // Whether the handle's transition is still stored. The caller must give a leaf in range.
  bool IsCurrent(const PositionHandle& handle) const;
  // The leaf under a point of the summed weights, see SumTree::Find.
  int Find(double point) const { return tree_.Find(point); }

  // State beyond places and weights: the generations [n] of the n leaves ever used, and the free
  // leaves [n - used] in order.
  absl::Span<const uint32_t> generations() const {
    return {generations_.data(), static_cast<size_t>(num_touched_)};
  }
  absl::Span<const int32_t> free_leaves() const { return free_; }
  // Restores that state, in the same shapes, in an index never used. The caller must then give its
  // place to every leaf that is not free.
  void RestoreLeaves(absl::Span<const uint32_t> generations, absl::Span<const int32_t> free_leaves);
  void RestorePlace(int leaf, const Place& place, double weight);

 private:
  SumTree tree_;
  std::vector<Place> places_;
  std::vector<uint32_t> generations_;
  std::vector<int32_t> free_;  // a stack, the last one is taken first
  int64_t num_touched_ = 0;    // leaves 0 .. num_touched_ - 1 have been used
  int64_t num_eligible_ = 0;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_POSITION_INDEX_H_
