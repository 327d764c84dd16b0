#include "lzero/replay/sum_tree.h"

#include <bit>
#include <cmath>

#include "lzero/base/check.h"

namespace lzero {

SumTree::SumTree(int num_leaves) : num_leaves_(num_leaves) {
  LZ_CHECK(num_leaves > 0 && num_leaves <= 1 << 30, "got ", num_leaves);
  first_leaf_ = static_cast<int>(std::bit_ceil(static_cast<uint32_t>(num_leaves)));
  nodes_.assign(static_cast<size_t>(first_leaf_) * 2, 0.0);
}

int64_t SumTree::BytesFor(int64_t num_leaves) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(num_leaves)) * 2 *
                              sizeof(double));
}

void SumTree::Set(int leaf, double weight) {
  LZ_CHECK(leaf >= 0 && leaf < num_leaves_, "leaf ", leaf, " of ", num_leaves_);
  LZ_CHECK(std::isfinite(weight) && weight >= 0.0, "weight ", weight);
  size_t node = static_cast<size_t>(first_leaf_) + leaf;
  nodes_[node] = weight;
  for (node /= 2; node > 0; node /= 2) nodes_[node] = nodes_[2 * node] + nodes_[2 * node + 1];
}

int SumTree::Find(double point) const {
  LZ_CHECK(total() > 0.0, "no leaf has a weight");
  size_t node = 1;
  while (node < static_cast<size_t>(first_leaf_)) {
    const double left = nodes_[2 * node];
    // Rounding may push the point past the last weight: an empty half is never entered.
    if (point < left || nodes_[2 * node + 1] <= 0.0) {
      node = 2 * node;
    } else {
      point -= left;
      node = 2 * node + 1;
    }
  }
  return static_cast<int>(node - first_leaf_);
}

}  // namespace lzero
