// The search trees of a batch of roots, in one allocation of the host that is kept between
// searches; the layout of nodes is in tree_view.h. Not the search itself (search.h), knows no
// model. A Tree belongs to one thread.
#ifndef LZERO_MCTS_TREE_TREE_H_
#define LZERO_MCTS_TREE_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lzero/base/check.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

class Tree {
 public:
  // Sizes must be positive; Search::Create checks them. Allocates once.
  Tree(int max_roots, int max_nodes, int num_actions);

  int num_actions() const { return view_.num_actions; }
  int padded_actions() const { return view_.padded_actions; }
  int max_roots() const { return max_roots_; }
  int max_nodes() const { return max_nodes_; }
  int64_t num_bytes() const { return layout_.num_bytes; }
  // Roots of the last search and node slots it used for each (num_simulations + 1).
  int num_roots() const { return num_roots_; }
  int num_nodes() const { return num_nodes_; }

  // Facts of root `b`, node `n`, action `a` after a search. A slot was not expanded (IsExpanded is
  // false, nothing else may be asked) when its simulation ended at the depth limit.
  bool IsExpanded(int b, int n) const { return At(b, n).record->visits > 0; }
  int32_t parent(int b, int n) const { return At(b, n).record->parent; }
  int32_t action_from_parent(int b, int n) const { return At(b, n).record->action; }
  int32_t depth(int b, int n) const;
  int32_t child(int b, int n, int a) const { return IsLeaf(b, n) ? -1 : At(b, n).child[a]; }
  int32_t visit_count(int b, int n, int a) const { return IsLeaf(b, n) ? 0 : At(b, n).visits[a]; }
  int32_t node_visits(int b, int n) const { return At(b, n).record->visits; }
  // The probability that a search uses: at the root with noise; 0 for an action that is not there
  // (illegal at the root, logit -infinity below it). O(A).
  float prior(int b, int n, int a) const;
  float reward(int b, int n) const { return At(b, n).record->reward; }
  float discount(int b, int n) const { return At(b, n).record->discount; }
  float network_value(int b, int n) const { return At(b, n).record->value; }
  double value(int b, int n) const { return At(b, n).record->MeanValue(); }
  // reward + discount * value of the child; 0 where unvisited.
  double q_value(int b, int n, int a) const;

  // For the functions of a search.
  void Begin(int num_roots, int num_nodes) {
    LZ_DCHECK(num_roots <= max_roots_ && num_nodes <= max_nodes_);
    num_roots_ = num_roots;
    num_nodes_ = num_nodes;
  }
  const TreeView& view() const { return view_; }
  Node At(int b, int n) const {
    LZ_DCHECK(b >= 0 && b < max_roots_ && n >= 0 && n < max_nodes_);
    return view_.nodes(b)[n];
  }
  RootRecord& root(int b) const { return view_.root(b); }

  // Bytes that a tree of these sizes allocates.
  static int64_t NumBytes(int64_t max_roots, int64_t max_nodes, int64_t num_actions);

 private:
  bool IsLeaf(int b, int n) const { return At(b, n).record->state() == NodeState::kLeaf; }

  struct Free {
    void operator()(std::byte* memory) const;
  };

  int max_roots_;
  int max_nodes_;
  int num_roots_ = 0;
  int num_nodes_ = 0;
  TreeLayout layout_;
  std::unique_ptr<std::byte, Free> memory_;
  TreeView view_;
};

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_TREE_H_
