// Walks down all trees of a batch at once, taking turns, and the climbs back up: what a simulation
// does on the host before and after the model. Chosen once for the rules, the number of actions and
// the processor; every choice gives the same bits. One level of one tree is in simulate.h. Each
// function belongs to the thread of its trees.
#ifndef LZERO_MCTS_TREE_WALK_H_
#define LZERO_MCTS_TREE_WALK_H_

#include <cstdint>

#include "lzero/base/ids.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/simulate.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// So many walks take turns at most.
inline constexpr int kMaxWalks = 24;

// Trees 0 .. num_roots - 1 in simulation number `simulation` (from 0).
struct WalkBatch {
  TreeView tree;
  const RulesView* rules;
  int num_roots;
  int simulation;
  bool first_of_ties;  // otherwise drawn, see ties.h
  float* scores;       // [kMaxWalks, P] scratch
  Leaf* leaves;        // [B] out
  NodeId* parents;     // [B] out
  int32_t* actions;    // [B] out
  NodeId* children;    // [B] out
};

// Walks down every tree; the sum of the depths of the leaves.
using WalkFunction = int64_t (*)(const WalkBatch& batch);

// What the model said about the children of `leaves`.
struct ClimbBatch {
  TreeView tree;
  int num_roots;
  int simulation;
  const Leaf* leaves;         // [B]
  const float* rewards;       // [B]
  const float* discounts;     // [B]
  const float* values;        // [B]
  const float* prior_logits;  // [B, A]
};

// Expands every leaf and backs its value up.
using ClimbFunction = void (*)(const ClimbBatch& batch);

// Instructions of the processor that make walks faster than those every x86-64 has, without fused
// multiply-add, which would change bits.
enum class Instructions { kBase, kAvx2 };
Instructions BestInstructions();

// `num_actions` of the tree; `has_chance`: it has chance nodes. `instructions` must be there.
WalkFunction ChooseWalk(const RuleNumbers& rules, int num_actions, bool has_chance,
                        Instructions instructions);
ClimbFunction ChooseClimb(Instructions instructions);

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_WALK_H_
