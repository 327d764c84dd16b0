#include "lzero/replay/position_index.h"

#include <algorithm>

#include "lzero/base/check.h"

namespace lzero {

PositionIndex::PositionIndex(int num_leaves)
    : tree_(num_leaves), places_(num_leaves), generations_(num_leaves, 0) {
  free_.reserve(num_leaves);
}

int64_t PositionIndex::BytesFor(int64_t num_leaves) {
  return SumTree::BytesFor(num_leaves) +
         num_leaves * static_cast<int64_t>(sizeof(Place) + sizeof(uint32_t) + sizeof(int32_t));
}

int PositionIndex::Allocate(const Place& place) {
  int leaf;
  if (!free_.empty()) {
    leaf = free_.back();
    free_.pop_back();
  } else {
    LZ_CHECK(num_touched_ < num_leaves(), "all ", num_leaves(), " leaves are in use");
    leaf = static_cast<int>(num_touched_++);
  }
  places_[leaf] = place;
  return leaf;
}

void PositionIndex::Release(int leaf) {
  SetWeight(leaf, 0.0);
  LZ_CHECK(places_[leaf].segment != nullptr, "leaf ", leaf, " is free");
  places_[leaf] = Place{};
  ++generations_[leaf];
  free_.push_back(leaf);
}

void PositionIndex::SetWeight(int leaf, double weight) {
  num_eligible_ += (weight > 0.0) - (tree_.weight(leaf) > 0.0);
  tree_.Set(leaf, weight);
}

bool PositionIndex::IsCurrent(const PositionHandle& handle) const {
  LZ_CHECK(handle.leaf >= 0 && handle.leaf < num_leaves(), "leaf ", handle.leaf, " of ",
           num_leaves());
  return places_[handle.leaf].segment != nullptr && generations_[handle.leaf] == handle.generation;
}

void PositionIndex::RestoreLeaves(absl::Span<const uint32_t> generations,
                                  absl::Span<const int32_t> free_leaves) {
  LZ_CHECK(num_touched_ == 0, "the index is in use");
  LZ_CHECK(static_cast<int>(generations.size()) <= num_leaves(), "got ", generations.size());
  num_touched_ = static_cast<int64_t>(generations.size());
  std::copy(generations.begin(), generations.end(), generations_.begin());
  free_.assign(free_leaves.begin(), free_leaves.end());
}

void PositionIndex::RestorePlace(int leaf, const Place& place, double weight) {
  LZ_CHECK(leaf < num_touched_ && places_[leaf].segment == nullptr, "leaf ", leaf, " is taken");
  places_[leaf] = place;
  SetWeight(leaf, weight);
}

}  // namespace lzero
