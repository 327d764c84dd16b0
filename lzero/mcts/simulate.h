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

// Walks down root `b` for simulation number `simulation` (from 0).
Leaf Descend(const Tree& tree, int b, int simulation, const SelectContext& context);

// What the model said about a node: of its edge (0 for a root), and of itself.
struct NodeOutputs {
  float reward = 0.0f;
  float discount = 0.0f;
  float value = 0.0f;
  const float* prior_logits = nullptr;  // [A]
};

// Fills node `n` of root `b`: nothing visited, prior = softmax of the logits (not yet masked at a
// root), visited once with the network's value.
void ExpandNode(const Tree& tree, int b, int n, const Leaf& leaf, SearchPolicy policy,
                const NodeOutputs& outputs);

// Adds the value of node `leaf` to all nodes above it: v <- reward + discount * v along the path,
// means, visits, Q, and the range of Q of the tree.
void BackUp(const Tree& tree, int b, int leaf);

// softmax over `num_actions` logits into prior [P]; entries past them are `padding`.
void Softmax(const float* logits, int num_actions, float padding, float* prior);

}  // namespace lzero

#endif  // LZERO_MCTS_SIMULATE_H_
