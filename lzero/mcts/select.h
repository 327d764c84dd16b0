// Which action a simulation takes at a node: PUCT, and the two rules of Gumbel (root and interior).
// Pure functions of the tree; the walk down is in simulate.h.
#ifndef LZERO_MCTS_SELECT_H_
#define LZERO_MCTS_SELECT_H_

#include "lzero/mcts/q_transform.h"
#include "lzero/mcts/rules.h"
#include "lzero/mcts/tree.h"

namespace lzero {

// What selection needs besides the node.
struct SelectContext {
  const SearchRules* rules;
  const RootRecord* root;
  int num_actions;
  int padded_actions;
  bool first_of_ties;  // otherwise drawn, see ties.h
  float* scores;       // [P] scratch
};

// argmax of q transform + P * exploration[node visits] / (1 + N). `first_play` is the parent's
// first-play value and becomes this node's (q_transform tree_min_max only). [MuZero appendix B]
int SelectPuct(const SelectContext& context, const Node& node, int node_index, float* first_play);

// argmax of softmax(logits + q transform) - N / (1 + sum N). [Danihelka et al. 2022, section 5]
int SelectGumbelInterior(const SelectContext& context, const Node& node, int node_index);

// argmax of gumbel + logits + q transform among the actions that have `considered_visits` visits.
// [Danihelka et al. 2022, section 3]
int SelectGumbelRoot(const SelectContext& context, const Node& node, const float* logits,
                     const float* gumbel, int32_t considered_visits);

// The q transform of a Gumbel node.
ValueScale GumbelValueScale(const SearchRules& rules, const RootRecord& root,
                            const NodeRecord& record, const ChildStats& stats, int num_actions);

}  // namespace lzero

#endif  // LZERO_MCTS_SELECT_H_
