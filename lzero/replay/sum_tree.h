// Weights of a fixed number of leaves with their sum, and the search for the leaf under a point of
// the sum. Inner nodes are always the sum of their two children as they are now, so nothing drifts.
// Not thread-safe.
#ifndef LZERO_REPLAY_SUM_TREE_H_
#define LZERO_REPLAY_SUM_TREE_H_

#include <cstdint>
#include <vector>

namespace lzero {

class SumTree {
 public:
  // All weights 0; `num_leaves` is positive.
  explicit SumTree(int num_leaves);

  // Bytes a tree of this size holds.
  static int64_t BytesFor(int64_t num_leaves);

  int num_leaves() const { return num_leaves_; }
  double weight(int leaf) const { return nodes_[first_leaf_ + leaf]; }
  double total() const { return nodes_[1]; }

  // `weight` is finite and not negative. Costs one addition a level.
  void Set(int leaf, double weight);

  // The leaf i with sum(weights before i) <= point < sum(weights up to i), up to rounding; never a
  // leaf of weight 0. `point` is in [0, total()], the total positive.
  int Find(double point) const;

 private:
  int num_leaves_;
  int first_leaf_;             // a power of two; node k has the children 2k and 2k + 1
  std::vector<double> nodes_;  // [2 * first_leaf_], the root is 1
};

}  // namespace lzero

#endif  // LZERO_REPLAY_SUM_TREE_H_
