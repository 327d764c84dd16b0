// The parts of one simulation in one tree: select down to an action that leads out of the tree,
// expand what it leads to, back the new value up. For the host and for a CUDA device: plain
// pointers, no checks, no allocation. Lanes (base/lanes/one_lane.h) share the actions; lane 0 alone
// writes records. Batching and the model are in search.cc.
#ifndef LZERO_MCTS_TREE_SIMULATE_H_
#define LZERO_MCTS_TREE_SIMULATE_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/select.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// What the model said about a node: of its edge (0 for a root), and of itself.
struct NodeOutputs {
  float reward = 0.0f;
  float discount = 0.0f;
  float value = 0.0f;
  // [A], or as wide as the tree; -infinity: the node lacks that action
  const float* prior_logits = nullptr;
};

// Leaf -> opened: no action visited.
template <typename Lanes>
LZ_HOST_DEVICE inline void OpenNode(const Lanes& lanes, const Node& node, int padded_actions) {
  for (int a = lanes.lane(); a < padded_actions; a += lanes.count()) {
    node.q[a] = 0.0f;
    node.visits[a] = 0;
    node.child[a] = -1;
  }
  lanes.Join();  // all have seen that it is a leaf
  if (lanes.lane() == 0) node.record->set_state(NodeState::kOpened);
}

// Opened -> ready: prior = softmax of the logits; where a logit is -infinity `missing`.
template <typename Lanes>
LZ_HOST_DEVICE inline void MakeReady(const Lanes& lanes, const Node& node, int padded_actions,
                                     float missing) {
  float* prior = node.prior;
  const float peak = RowMax(lanes, prior, padded_actions);
  int32_t num_actions = 0;
  for (int a = lanes.lane(); a < padded_actions; a += lanes.count()) {
    const bool exists = prior[a] > -kInfinity;
    const float weight = ExpNonPositive(prior[a] - peak);
    prior[a] = exists ? weight : 0.0f;
    num_actions += exists;
  }
  num_actions = lanes.Sum(num_actions);
  const float inverse = 1.0f / RowSum(lanes, prior, padded_actions);
  for (int a = lanes.lane(); a < padded_actions; a += lanes.count()) {
    const float probability = Max(prior[a] * inverse, 1e-30f);
    prior[a] = prior[a] > 0.0f ? probability : missing;  // above 0 where there is an action
  }
  if (lanes.lane() == 0) node.record->num_actions = num_actions;
  lanes.Join();
}

// What actions that a node lacks, and padding past the last action, hold as prior.
LZ_HOST_DEVICE inline float MissingPrior(const RulesView& rules) {
  return rules.policy == SearchPolicy::kPuct ? kNoPrior : 0.0f;
}

// The rule of Gumbel's root in simulation number `simulation` (from 0) of tree `b`.
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectRootOfGumbel(const Lanes& lanes, const TreeView& tree, int b,
                                             int simulation, const SelectContext& context,
                                             const Node& node) {
  const RulesView& rules = *context.rules;
  const int num_legal = context.root->num_legal;
  const int considered = num_legal < rules.max_considered ? num_legal : rules.max_considered;
  const int64_t at = int64_t{considered} * rules.num_simulations + simulation;
  return SelectGumbelRoot(lanes, context, node, tree.root_logits(b), tree.root_gumbel(b),
                          rules.considered_visits[at]);
}

// From the root of tree `b` down to an action to evaluate in simulation number `simulation` (from
// 0); the node it leads out of is open then. The softmax of a node is computed where it is needed
// for the first time: at the second visit.
template <typename Lanes>
LZ_HOST_DEVICE inline Leaf SelectLeaf(const Lanes& lanes, const TreeView& tree, int b,
                                      int simulation, const SelectContext& context) {
  const RulesView& rules = *context.rules;
  const RootNodes nodes = tree.nodes(b);
  float fpu = 0.0f;
  int32_t n = 0;
  for (int32_t depth = 1;; ++depth) {  // of the child
    const Node node = nodes[n];
    if (node.record->state() == NodeState::kLeaf) {
      OpenNode(lanes, node, context.padded_actions);
      return {n, SelectUnvisited(lanes, context, node, n), -1, depth};
    }
    if (node.record->state() == NodeState::kOpened) {
      MakeReady(lanes, node, context.padded_actions, MissingPrior(rules));
    }
    int action;
    if (rules.has_chance && depth % 2 == 0) {  // a chance node; decisions have even depths
      action = SelectOutcome(lanes, context, node, n, &fpu);
    } else if (rules.policy == SearchPolicy::kPuct) {
      action = SelectPuct(lanes, context, node, n, &fpu);
    } else if (n == 0) {
      action = SelectRootOfGumbel(lanes, tree, b, simulation, context, node);
    } else {
      action = SelectGumbelInterior(lanes, context, node, n);
    }
    const int32_t child = node.child[action];
    if (child < 0 || depth >= rules.max_depth) return {n, action, child, depth};
    n = child;
  }
}

// Makes node `n` of root `b` a leaf, visited once with the network's value, and links it.
template <typename Lanes>
LZ_HOST_DEVICE inline void ExpandNode(const Lanes& lanes, const TreeView& tree, int b, int n,
                                      const Leaf& leaf, const NodeOutputs& outputs) {
  const RootNodes nodes = tree.nodes(b);
  const Node node = nodes[n];
  if (lanes.lane() == 0) {
    *node.record = {/*value_sum=*/outputs.value,
                    /*q_sum=*/0.0,
                    /*visits=*/1,
                    /*num_children=*/0,
                    static_cast<int32_t>(NodeState::kLeaf),
                    leaf.parent,
                    leaf.action,
                    outputs.reward,
                    outputs.discount,
                    outputs.value};
    if (leaf.parent >= 0) nodes[leaf.parent].child[leaf.action] = n;
  }
  int a = lanes.lane();
  for (; a < tree.num_actions; a += lanes.count()) node.prior[a] = outputs.prior_logits[a];
  for (; a < tree.padded_actions; a += lanes.count()) node.prior[a] = -kInfinity;
}

// Counts one more visit of a node that cannot be searched further, with the network's value.
LZ_HOST_DEVICE inline void RevisitNode(const Node& node) {
  node.record->value_sum += node.record->value;
  node.record->visits += 1;
}

// Adds the value v of node `leaf` to all nodes above it, v becoming reward + discount * v from
// child to parent: means, visits and Q along the path, and the range of Q of the tree.
LZ_HOST_DEVICE inline void BackUp(const TreeView& tree, int b, int leaf) {
  const RootNodes nodes = tree.nodes(b);
  RootRecord& root = tree.root(b);
  const NodeRecord* child = nodes[leaf].record;
  double value = child->value;  // from the view of the player to move there
  while (child->parent >= 0) {
    const Node parent = nodes[child->parent];
    NodeRecord& record = *parent.record;
    value = child->reward + child->discount * value;
    record.value_sum += value;
    record.visits += 1;
    const float q = static_cast<float>(child->reward + child->discount * child->MeanValue());
    const int action = child->action;
    record.q_sum += static_cast<double>(q) - parent.q[action];
    record.num_children += parent.visits[action] == 0;
    parent.visits[action] += 1;
    parent.q[action] = q;
    root.min_q = Min(q, root.min_q);
    root.max_q = Max(q, root.max_q);
    child = &record;
  }
}

// Expands node `n` behind `leaf`, or visits once more the node that is there already (then slot `n`
// stays unused), and backs its value up.
template <typename Lanes>
LZ_HOST_DEVICE inline void ExpandAndBackUp(const Lanes& lanes, const TreeView& tree, int b, int n,
                                           const Leaf& leaf, const NodeOutputs& outputs) {
  if (leaf.child < 0) ExpandNode(lanes, tree, b, n, leaf, outputs);
  if (lanes.lane() != 0) return;
  if (leaf.child >= 0) {
    const RootNodes nodes = tree.nodes(b);
    nodes[n].record->visits = 0;
    RevisitNode(nodes[leaf.child]);
  }
  BackUp(tree, b, leaf.child < 0 ? n : leaf.child);
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SIMULATE_H_
