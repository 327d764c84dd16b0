// The arrays of search trees as plain pointers, for host and CUDA device, which hold them in the
// same layout: no pointers between nodes, node 0 is the root, a node's index is the number of the
// simulation that expanded it. Everything about one node lies together, because one step of a
// search reads it all:
//
//   root b, node n:  NodeRecord | prior [P] | q [P] | visits [P] | child [P]     P: padded A
//
// Owns nothing (tree.h does, on the host), knows no search and no model.
#ifndef LZERO_MCTS_TREE_TREE_VIEW_H_
#define LZERO_MCTS_TREE_TREE_VIEW_H_

#include <cstddef>
#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/action_row.h"

namespace lzero {

// How much of a node's arrays over actions is there.
enum class NodeState : int32_t {
  kOpened = -1,  // prior holds the logits; q, visits and child are valid
  kLeaf = 0,     // prior holds the logits; nothing else is valid
  kReady = 1,    // all valid
};

// What a node knows apart from its actions.
struct NodeRecord {
  double value_sum;      // of backed-up values, the network's value included once
  double q_sum;          // of the Q of visited actions
  int32_t visits;        // 1 when expanded; 0: this slot was never expanded
  int32_t num_children;  // visited actions
  // A node that is ready: the actions that it has, those of logit -infinity left out; at the root
  // all of them, see root.h. Another node: its NodeState.
  int32_t num_actions;
  int32_t parent;  // -1 at the root
  int32_t action;  // from the parent; -1 at the root
  float reward;    // of the edge from the parent; 0 at the root
  float discount;  // of the edge from the parent; 0 at the root
  float value;     // the network's

  LZ_HOST_DEVICE double MeanValue() const { return value_sum / visits; }
  LZ_HOST_DEVICE NodeState state() const {
    return num_actions > 0 ? NodeState::kReady : static_cast<NodeState>(num_actions);
  }
  // For a node that is not ready.
  LZ_HOST_DEVICE void set_state(NodeState state) { num_actions = static_cast<int32_t>(state); }
};

// One node, its arrays over actions [P]. Actions that the node lacks, and those past the last
// action, have prior `kNoPrior` in PUCT and 0 in Gumbel, logits of -infinity, no visits and no
// child.
struct Node {
  NodeRecord* record;
  float* prior;     // probability; kNoPrior: never to be selected (PUCT)
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

  LZ_HOST_DEVICE Node operator[](int64_t n) const {
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

// Where a simulation's way down a tree ended: the action to evaluate.
struct Leaf {
  int32_t parent;
  int32_t action;
  int32_t child;  // -1, or the node that exists already (selection ended at the depth limit)
  int32_t depth;  // of the child
};

// Sizes in bytes of trees in one allocation: nodes, root records, and the logits and Gumbel noise
// of the roots, one after another.
struct TreeLayout {
  static constexpr int64_t kAlignment = 64;  // of the allocation and of each node

  int64_t node_stride;
  int64_t root_stride;
  int64_t root_records_at;
  int64_t root_logits_at;
  int64_t root_gumbel_at;
  int64_t num_bytes;

  LZ_HOST_DEVICE static constexpr int64_t RoundUp(int64_t bytes, int64_t multiple) {
    return (bytes + multiple - 1) / multiple * multiple;
  }

  // Nodes begin on a cache line: a step reads as few of them as it can.
  LZ_HOST_DEVICE static constexpr int64_t NodeStride(int64_t padded_actions) {
    return RoundUp(
        static_cast<int64_t>(sizeof(NodeRecord)) +
            padded_actions * static_cast<int64_t>(2 * sizeof(float) + 2 * sizeof(int32_t)),
        kAlignment);
  }

  static constexpr TreeLayout Of(int64_t max_roots, int64_t max_nodes, int64_t num_actions) {
    const int64_t padded = RoundUp(num_actions, kGroup);
    TreeLayout layout = {};
    layout.node_stride = NodeStride(padded);
    // Roots begin on a cache line, and an odd number of lines apart, so that node 0 of many roots
    // does not fall into one set of the cache.
    const int64_t lines = RoundUp(layout.node_stride * max_nodes, kAlignment) / kAlignment;
    layout.root_stride = (lines | 1) * kAlignment;
    layout.root_records_at = max_roots * layout.root_stride;
    layout.root_logits_at =
        layout.root_records_at +
        RoundUp(max_roots * static_cast<int64_t>(sizeof(RootRecord)), kAlignment);
    const int64_t actions_bytes =
        RoundUp(max_roots * padded * static_cast<int64_t>(sizeof(float)), kAlignment);
    layout.root_gumbel_at = layout.root_logits_at + actions_bytes;
    layout.num_bytes = layout.root_gumbel_at + actions_bytes;
    return layout;
  }
};

// Trees in the memory of host or device.
struct TreeView {
  std::byte* first_nodes;
  RootRecord* root_records;
  float* first_root_logits;
  float* first_root_gumbel;
  int64_t node_stride;
  int64_t root_stride;
  int32_t num_actions;
  int32_t padded_actions;

  // `memory` of layout.num_bytes bytes, aligned to kAlignment.
  static TreeView Over(std::byte* memory, const TreeLayout& layout, int num_actions) {
    return {memory,
            reinterpret_cast<RootRecord*>(memory + layout.root_records_at),
            reinterpret_cast<float*>(memory + layout.root_logits_at),
            reinterpret_cast<float*>(memory + layout.root_gumbel_at),
            layout.node_stride,
            layout.root_stride,
            num_actions,
            PaddedActions(num_actions)};
  }

  LZ_HOST_DEVICE RootNodes nodes(int64_t b) const {
    return {first_nodes + b * root_stride, node_stride, padded_actions};
  }
  LZ_HOST_DEVICE RootRecord& root(int64_t b) const { return root_records[b]; }
  // [P] of the root: logits minus the largest legal one, and Gumbel noise; illegal and padding:
  // -inf and 0. Only the Gumbel policy fills them.
  LZ_HOST_DEVICE float* root_logits(int64_t b) const {
    return first_root_logits + b * padded_actions;
  }
  LZ_HOST_DEVICE float* root_gumbel(int64_t b) const {
    return first_root_gumbel + b * padded_actions;
  }
};

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_TREE_VIEW_H_
