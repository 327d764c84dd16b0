// The search trees of a batch of roots as arrays in one allocation, kept between searches: no
// pointers between nodes, node 0 is the root, a node's index is the number of the simulation that
// expanded it. Everything about one node lies together, because one step of a search reads it all:
//
//   root b, node n:  NodeRecord | q [P] | prior [P] | visits [P] | child [P]     P = A in whole
//   lanes
//
// Not the search itself (search.h), knows no model. A Tree belongs to one thread.
#ifndef LZERO_MCTS_TREE_H_
#define LZERO_MCTS_TREE_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "lzero/base/check.h"
#include "lzero/mcts/lanes.h"

namespace lzero {

// How much of a node's arrays over actions is there.
enum class NodeState : int32_t {
  kLeaf,    // prior holds the logits; nothing else is valid
  kOpened,  // prior holds the logits; q, visits and child are valid
  kReady,   // all valid
};

// What a node knows apart from its actions.
struct NodeRecord {
  double value_sum;      // of backed-up values, the network's value included once
  double q_sum;          // of the Q of visited actions
  int32_t visits;        // 1 when expanded; 0: this slot was never expanded
  int32_t num_children;  // visited actions
  int32_t parent;        // -1 at the root
  int32_t action;        // from the parent; -1 at the root
  float reward;          // of the edge from the parent; 0 at the root
  float discount;        // of the edge from the parent; 0 at the root
  float value;           // the network's
  NodeState state;

  double MeanValue() const { return value_sum / visits; }
};

// One node, its arrays over actions [P]. Lanes past the last action have prior `kNoPrior` in PUCT
// and 0 in Gumbel, logits of -infinity, no visits and no child.
struct Node {
  NodeRecord* record;
  float* prior;     // probability; kNoPrior: never to be selected (PUCT root, illegal)
  float* q;         // reward + discount * value of the child; 0 where unvisited
  int32_t* visits;  // of the action
  int32_t* child;   // node index, -1: not expanded
};
inline constexpr float kNoPrior = -kInfinity;

// The nodes of one root.
struct RootNodes {
  std::byte* first;
  int64_t node_stride;
  int32_t padded_actions;

  Node operator[](int64_t n) const {
    std::byte* at = first + n * node_stride;
    float* actions = reinterpret_cast<float*>(at + sizeof(NodeRecord));
    return {reinterpret_cast<NodeRecord*>(at), actions, actions + padded_actions,
            reinterpret_cast<int32_t*>(actions + 2 * padded_actions),
            reinterpret_cast<int32_t*>(actions + 3 * padded_actions)};
  }
};

// What belongs to a whole tree.
struct RootRecord {
  float min_q;  // over all Q the tree has ever held; min > max: none yet
  float max_q;
  int32_t env;
  int32_t num_legal;
  uint64_t tie_key;
};

class Tree {
 public:
  // Sizes must be positive; Search::Create checks them. Allocates once.
  Tree(int max_roots, int max_nodes, int num_actions);

  int num_actions() const { return num_actions_; }
  int padded_actions() const { return padded_actions_; }
  int max_roots() const { return max_roots_; }
  int max_nodes() const { return max_nodes_; }
  int64_t num_bytes() const { return num_bytes_; }
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
  // The probability that a search uses: at the root without illegal actions, with noise. O(A).
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
  RootNodes nodes(int b) const {
    return {nodes_ + b * root_stride_, node_stride_, padded_actions_};
  }
  Node At(int b, int n) const {
    LZ_DCHECK(b >= 0 && b < max_roots_ && n >= 0 && n < max_nodes_);
    return nodes(b)[n];
  }
  RootRecord& root(int b) const { return roots_[b]; }
  // [P] of the root: logits minus the largest legal one, and Gumbel noise; illegal and padding:
  // -inf and 0. Only the Gumbel policy fills them.
  float* root_logits(int b) const { return root_logits_ + int64_t{b} * padded_actions_; }
  float* root_gumbel(int b) const { return root_gumbel_ + int64_t{b} * padded_actions_; }

  // Bytes that a tree of these sizes allocates.
  static int64_t NumBytes(int64_t max_roots, int64_t max_nodes, int64_t num_actions);

 private:
  bool IsLeaf(int b, int n) const { return At(b, n).record->state == NodeState::kLeaf; }

  struct Free {
    void operator()(std::byte* memory) const;
  };

  int max_roots_;
  int max_nodes_;
  int num_actions_;
  int padded_actions_;
  int num_roots_ = 0;
  int num_nodes_ = 0;
  int64_t node_stride_;
  int64_t root_stride_;
  int64_t num_bytes_;
  std::unique_ptr<std::byte, Free> memory_;
  std::byte* nodes_;
  RootRecord* roots_;
  float* root_logits_;
  float* root_gumbel_;
};

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_H_
