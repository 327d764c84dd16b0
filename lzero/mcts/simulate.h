// The parts of one simulation in one tree: walk down to an action that leads out of the tree,
// expand what it leads to, back the new value up. Batching and the model are in search.cc.
#ifndef LZERO_MCTS_SIMULATE_H_
#define LZERO_MCTS_SIMULATE_H_

#include "lzero/mcts/select.h"
#include "lzero/mcts/tree.h"

namespace lzero {

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
  int32_t root = 0;
  int32_t node = 0;
  int32_t depth = 1;  // of the next child
  float first_play = 0.0f;
};

// One level of simulation number `simulation` (from 0). True when the walk ended, in `leaf`; the
// node it ended in is open then.
bool Step(const Tree& tree, int simulation, Cursor* cursor, Leaf* leaf);

// What the model said about a node: of its edge (0 for a root), and of itself.
struct NodeOutputs {
  float reward = 0.0f;
  float discount = 0.0f;
  float value = 0.0f;
  const float* prior_logits = nullptr;  // [A]
};

// Makes node `n` of root `b` a leaf, visited once with the network's value, and links it.
void ExpandNode(const Tree& tree, int b, int n, const Leaf& leaf, const NodeOutputs& outputs);

// Leaf -> opened: no action visited.
void OpenNode(const Node& node, int padded_actions);

// Opened -> ready: prior = softmax of the logits; entries past the actions become `padding`.
void MakeReady(const Node& node, int num_actions, float padding);

// Counts one more visit of a node that cannot be searched further, with the network's value.
void RevisitNode(const Node& node);

// Adds the value of node `leaf` to all nodes above it: v <- reward + discount * v along the path,
// means, visits, Q, and the range of Q of the tree.
void BackUp(const Tree& tree, int b, int leaf);

}  // namespace lzero

#endif  // LZERO_MCTS_SIMULATE_H_
