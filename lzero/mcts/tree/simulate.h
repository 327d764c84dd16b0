// The parts of one simulation in one tree: walk down to an action that leads out of the tree,
// expand what it leads to, back the new value up. For the host and for a CUDA device: plain
// pointers, no checks, no allocation. Batching and the model are in search.cc.
#ifndef LZERO_MCTS_TREE_SIMULATE_H_
#define LZERO_MCTS_TREE_SIMULATE_H_

#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/search_kind.h"
#include "lzero/mcts/tree/select.h"
#include "lzero/mcts/tree/select_abreast.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {
inline namespace LZ_LANES_NAMESPACE {

// The end of a walk: the action to evaluate.
struct Leaf {
  int32_t parent;
  int32_t action;
  int32_t child;  // -1, or the node that exists already (the walk ended at the depth limit)
  int32_t depth;  // of the child
};

// A walk down one tree that has not ended.
struct Cursor {
  SelectContext context;
  RootNodes nodes;
  int32_t root = 0;
  int32_t node = 0;
  int32_t depth = 1;  // of the next child
  float first_play = 0.0f;
};

// What the model said about a node: of its edge (0 for a root), and of itself.
struct NodeOutputs {
  float reward = 0.0f;
  float discount = 0.0f;
  float value = 0.0f;
  // [A], or as wide as the tree; -infinity: the node lacks that action
  const float* prior_logits = nullptr;
};

// Leaf -> opened: no action visited.
LZ_HOST_DEVICE inline void OpenNode(const Node& node, int padded_actions) {
  for (int a = 0; a < padded_actions; a += kLanes) {
    Store(Fill(0.0f), node.q + a);
    StoreInt(FillInt(0), node.visits + a);
    StoreInt(FillInt(-1), node.child + a);
  }
  node.record->set_state(NodeState::kOpened);
}

// Opened -> ready: prior = softmax of the logits; where a logit is -infinity `missing`.
LZ_HOST_DEVICE inline void MakeReady(const Node& node, int padded_actions, float missing) {
  float* prior = node.prior;
  Float4 peaks = Fill(-kInfinity);
  for (int a = 0; a < padded_actions; a += kLanes) peaks = Max(Load(prior + a), peaks);
  peaks = MaxLanes(peaks);
  Float4 sums = Fill(0.0f);
  Int4 counts = FillInt(0);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Float4 logits = Load(prior + a);
    const Int4 exists = logits > -kInfinity;
    const Float4 weights = Choose(exists, ExpNonPositive(logits - peaks), Fill(0.0f));
    Store(weights, prior + a);
    sums += weights;
    counts = counts - exists;
  }
  const Float4 inverse = 1.0f / SumLanes(sums);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Float4 weights = Load(prior + a);  // above 0 where the logit is above -infinity
    const Float4 priors = Max(weights * inverse, Fill(1e-30f));
    Store(Choose(weights > 0.0f, priors, Fill(missing)), prior + a);
  }
  node.record->num_actions = SumLanes(counts)[0];
}

// What actions that a node lacks, and lanes past the last action, hold as prior.
LZ_HOST_DEVICE inline float MissingPrior(const RuleNumbers& rules) {
  return rules.policy == SearchPolicy::kPuct ? kNoPrior : 0.0f;
}

template <class Kind = AnyKind>
LZ_HOST_DEVICE inline int SelectRootOfGumbel(const TreeView& tree, int b, int simulation,
                                             const SelectContext& context, const Node& node) {
  const RulesView& rules = *context.rules;
  const int num_legal = context.root->num_legal;
  const int considered = num_legal < rules.max_considered ? num_legal : rules.max_considered;
  const int64_t at = int64_t{considered} * rules.num_simulations + simulation;
  return SelectGumbelRoot<Kind>(context, node, tree.root_logits(b), tree.root_gumbel(b),
                                rules.considered_visits[at]);
}

// Whether the walk is at a chance node, in a tree that has such: decisions have even depths.
LZ_HOST_DEVICE inline bool IsAtChance(const Cursor& cursor) { return cursor.depth % 2 == 0; }

// Takes `action` at the node of the walk. True when the walk ended there, in `leaf`.
LZ_HOST_DEVICE inline bool Advance(Cursor* cursor, const Node& node, int action, Leaf* leaf) {
  const int32_t child = node.child[action];
  if (child < 0 || cursor->depth >= cursor->context.rules->max_depth) {
    *leaf = {cursor->node, action, child, cursor->depth};
    return true;
  }
  cursor->node = child;
  cursor->depth += 1;
  return false;
}

// One level of simulation number `simulation` (from 0). True when the walk ended, in `leaf`; the
// node it ended in is open then. The softmax of a node is computed where it is needed for the first
// time: at the second visit.
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline bool Step(const TreeView& tree, int simulation, Cursor* cursor, Leaf* leaf) {
  const SelectContext& context = cursor->context;
  const RulesView& rules = *context.rules;
  const int32_t n = cursor->node;
  const Node node = Kind::At(cursor->nodes, n);
  if (node.record->state() == NodeState::kLeaf) {
    OpenNode(node, Kind::Padded(context.padded_actions));
    *leaf = {n, SelectUnvisited<Kind>(context, node, n), -1, cursor->depth};
    return true;
  }
  if (node.record->state() == NodeState::kOpened) {
    MakeReady(node, Kind::Padded(context.padded_actions), MissingPrior(rules));
  }
  if constexpr (Kind::kHasChance) {
    if (IsAtChance(*cursor)) {
      return Advance(cursor, node, SelectOutcome(context, node, n, &cursor->first_play), leaf);
    }
  }
  int action;
  if (Kind::Policy(rules) == SearchPolicy::kPuct) {
    action = SelectPuct<Kind>(context, node, n, &cursor->first_play);
  } else if (n == 0) {
    action = SelectRootOfGumbel<Kind>(tree, cursor->root, simulation, context, node);
  } else {
    action = SelectGumbelInterior<Kind>(context, node, n);
  }
  return Advance(cursor, node, action, leaf);
}

// One level of two walks at once; `leaves` of those that ended. The walks must have scratch of
// their own.
template <class Kind>
LZ_HOST_DEVICE inline void StepTwo(const TreeView& tree, int simulation, Cursor* walks,
                                   bool (*ended)[2], Leaf (*leaves)[2]) {
  const Node first = Kind::At(walks[0].nodes, walks[0].node);
  const Node second = Kind::At(walks[1].nodes, walks[1].node);
  const bool are_interior = Kind::Policy(*walks[0].context.rules) == SearchPolicy::kGumbel &&
                            walks[0].node != 0 && walks[1].node != 0 &&
                            first.record->state() == NodeState::kReady &&
                            second.record->state() == NodeState::kReady;
  if (!are_interior) {
    (*ended)[0] = Step<Kind>(tree, simulation, walks, &(*leaves)[0]);
    (*ended)[1] = Step<Kind>(tree, simulation, walks + 1, &(*leaves)[1]);
    return;
  }
  int actions[2];
  SelectGumbelInteriors<Kind, 2>(
      {{&walks[0].context, first, walks[0].node}, {&walks[1].context, second, walks[1].node}},
      actions);
  (*ended)[0] = Advance(walks, first, actions[0], &(*leaves)[0]);
  (*ended)[1] = Advance(walks + 1, second, actions[1], &(*leaves)[1]);
}

// Whether the next step of a walk is Gumbel's interior rule; its node is ready then.
template <class Kind>
LZ_HOST_DEVICE inline bool PrepareInterior(const Cursor& walk) {
  const Node node = Kind::At(walk.nodes, walk.node);
  if (walk.node == 0 || node.record->state() == NodeState::kLeaf) return false;
  if (node.record->state() == NodeState::kOpened) {
    MakeReady(node, Kind::Padded(walk.context.padded_actions), MissingPrior(*walk.context.rules));
  }
  return true;
}

// One level of four walks at interior nodes that are ready: nodes and actions. The walks stay where
// they are; one of them may be there more than once.
template <class Kind>
LZ_HOST_DEVICE inline void SelectFour(Cursor* const* walks, NodeVisit (&visits)[kLanes],
                                      int (&actions)[kLanes]) {
  LZ_UNROLL
  for (int k = 0; k < kLanes; ++k) {
    const Cursor& walk = *walks[k];
    visits[k] = {&walk.context, Kind::At(walk.nodes, walk.node), walk.node};
  }
  SelectGumbelAbreast<Kind>(visits, actions);
}

// Makes node `n` of root `b` a leaf, visited once with the network's value, and links it.
LZ_HOST_DEVICE inline void ExpandNode(const TreeView& tree, int b, int n, const Leaf& leaf,
                                      const NodeOutputs& outputs) {
  const RootNodes nodes = tree.nodes(b);
  const Node node = nodes[n];
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
  for (int a = 0; a < tree.num_actions; ++a) node.prior[a] = outputs.prior_logits[a];
  for (int a = tree.num_actions; a < tree.padded_actions; ++a) node.prior[a] = -kInfinity;
  if (leaf.parent >= 0) nodes[leaf.parent].child[leaf.action] = n;
}

// Counts one more visit of a node that cannot be searched further, with the network's value.
LZ_HOST_DEVICE inline void RevisitNode(const Node& node) {
  node.record->value_sum += node.record->value;
  node.record->visits += 1;
}

// A climb from a node to the root that has not ended.
struct Climb {
  RootNodes nodes;
  const NodeRecord* child;
  double value;  // of the child, from the view of the player to move there
  float min_q;
  float max_q;
};

LZ_HOST_DEVICE inline Climb BeginClimb(const TreeView& tree, int b, int leaf) {
  const RootNodes nodes = tree.nodes(b);
  const NodeRecord* child = nodes[leaf].record;
  const RootRecord& root = tree.root(b);
  return {nodes, child, child->value, root.min_q, root.max_q};
}

// One level: v <- reward + discount * v, and the mean, visits and Q of the parent. The child must
// not be the root.
LZ_HOST_DEVICE inline void ClimbStep(Climb* climb) {
  const NodeRecord* child = climb->child;
  const Node parent = climb->nodes[child->parent];
  NodeRecord& record = *parent.record;
  climb->value = child->reward + child->discount * climb->value;
  record.value_sum += climb->value;
  record.visits += 1;
  const float q = static_cast<float>(child->reward + child->discount * child->MeanValue());
  const int action = child->action;
  record.q_sum += static_cast<double>(q) - parent.q[action];
  record.num_children += parent.visits[action] == 0;
  parent.visits[action] += 1;
  parent.q[action] = q;
  climb->min_q = q < climb->min_q ? q : climb->min_q;
  climb->max_q = q > climb->max_q ? q : climb->max_q;
  climb->child = &record;
}

LZ_HOST_DEVICE inline void EndClimb(const TreeView& tree, int b, const Climb& climb) {
  RootRecord& root = tree.root(b);
  root.min_q = climb.min_q;
  root.max_q = climb.max_q;
}

// Adds the value of node `leaf` to all nodes above it: along the path means, visits and Q, and the
// range of Q of the tree.
LZ_HOST_DEVICE inline void BackUp(const TreeView& tree, int b, int leaf) {
  Climb climb = BeginClimb(tree, b, leaf);
  while (climb.child->parent >= 0) ClimbStep(&climb);
  EndClimb(tree, b, climb);
}

// Expands node `n` behind `leaf`, or visits once more the node that is there already (then slot `n`
// stays unused). The node to back up from.
LZ_HOST_DEVICE inline int ExpandLeaf(const TreeView& tree, int b, int n, const Leaf& leaf,
                                     const NodeOutputs& outputs) {
  if (leaf.child < 0) {
    ExpandNode(tree, b, n, leaf, outputs);
    return n;
  }
  const RootNodes nodes = tree.nodes(b);
  nodes[n].record->visits = 0;
  RevisitNode(nodes[leaf.child]);
  return leaf.child;
}

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SIMULATE_H_
