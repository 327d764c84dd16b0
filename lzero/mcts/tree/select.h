// Which action a simulation takes at a node: PUCT, the two rules of Gumbel (root and interior), and
// the rule of chance nodes. Each writes the scores of the actions and takes the best. Pure
// functions of the tree, on the host and on a CUDA device, where lanes (base/lanes/one_lane.h)
// share the actions; the way down a tree is in simulate.h.
#ifndef LZERO_MCTS_TREE_SELECT_H_
#define LZERO_MCTS_TREE_SELECT_H_

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/q_transform.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/ties.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// What selection needs besides the node; the same for all nodes of one simulation.
struct SelectContext {
  const RulesView* rules;
  const RootRecord* root;
  int num_actions;
  int padded_actions;
  bool first_of_ties;     // otherwise drawn, see ties.h
  bool has_noise;         // at the root, which then has forced playouts, too
  float* scores;          // [P] scratch
  ValueScale tree_scale;  // TreeMinMaxScale of the root
};

// The action with the best of `scores` [P]; the first when none is above -infinity.
template <typename Lanes>
LZ_HOST_DEVICE inline int BestAction(const Lanes& lanes, const SelectContext& context,
                                     const float* scores, int node_index, int visits) {
  const float best = RowMax(lanes, scores, context.padded_actions);
  if (context.first_of_ties) return FirstTie(lanes, scores, context.num_actions, best);
  return BreakTie(lanes, scores, context.num_actions, best, context.root->tie_key, node_index,
                  visits);
}

// The q transform of a node, where Gumbel completes the Q of unvisited actions.
LZ_HOST_DEVICE inline ValueScale NodeValueScale(const SelectContext& context,
                                                const NodeRecord& record, const ChildStats& stats) {
  const RulesView& rules = *context.rules;
  switch (rules.q_transform) {
    case QTransform::kTreeMinMax:
      return CompletedTreeScale(rules, context.tree_scale, record, stats);
    case QTransform::kParentAndSiblings:
      return ParentAndSiblingsScale(rules, record, stats);
    case QTransform::kMinMax:
      return FixedRangeScale(rules);
    case QTransform::kCompletedByMixValue:
      return CompletedScale(rules, record, stats);
  }
  LZ_HOST_CHECK(false, "q transform ", static_cast<int>(rules.q_transform));
  return {};
}

// argmax of the logits: where no action is visited yet, all q transforms and all exploration
// factors are equal, in PUCT and in Gumbel's interior rule. Actions that the node lacks have
// -infinity.
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectUnvisited(const Lanes& lanes, const SelectContext& context,
                                          const Node& node, int node_index) {
  return BestAction(lanes, context, node.prior, node_index, node.record->visits);
}

LZ_HOST_DEVICE inline bool HasForcedPlayouts(const SelectContext& context) {
  return context.has_noise && context.rules->forced_playouts > 0.0f;
}

// The visits that action `a` of a root, visited before, must have by now. [Wu 2019, section 3.2]
LZ_HOST_DEVICE inline float ForcedVisits(const SelectContext& context, const Node& node, int a) {
  const float visits = static_cast<float>(node.record->visits);
  return std::sqrt(context.rules->forced_playouts * node.prior[a] * visits);
}

// argmax of q transform + P * exploration[node visits] / (1 + N). [MuZero appendix B] `fpu` is the
// parent's first-play urgency and becomes this node's (q_transform tree_min_max only).
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectPuct(const Lanes& lanes, const SelectContext& context,
                                     const Node& node, int node_index, float* fpu) {
  ValueScale scale;
  if (context.rules->q_transform == QTransform::kTreeMinMax) {
    *fpu = FpuValue(*node.record, *fpu);
    scale = context.tree_scale;
    scale.unvisited = scale.Visited(*fpu);
  } else {
    scale = NodeValueScale(context, *node.record,
                           ComputeChildStats(lanes, node, context.padded_actions));
  }
  const int32_t visits = node.record->visits;
  const float exploration = context.rules->exploration[visits];
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    context.scores[a] = scale.Apply(node.q[a], node.visits[a]) +
                        exploration * node.prior[a] / static_cast<float>(node.visits[a] + 1);
  }
  if (node_index == 0 && HasForcedPlayouts(context)) {
    for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
      const auto action_visits = static_cast<float>(node.visits[a]);
      const bool lags = action_visits > 0.0f && action_visits < ForcedVisits(context, node, a);
      if (lags) context.scores[a] = kInfinity;
    }
  }
  return BestAction(lanes, context, context.scores, node_index, visits);
}

// argmax of P / (1 + N) over the outcomes of a chance node: a search sees each of n outcomes about
// n * P times, without noise and without the variance of draws, and never fewer than
// floor(n * P) times. [mctx stochastic_muzero_policy; the quotients of D'Hondt] `fpu` as in
// SelectPuct: a chance node, too, is a step on the way to the decisions below it.
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectOutcome(const Lanes& lanes, const SelectContext& context,
                                        const Node& node, int node_index, float* fpu) {
  *fpu = FpuValue(*node.record, *fpu);
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    context.scores[a] = node.prior[a] / static_cast<float>(node.visits[a] + 1);
  }
  return BestAction(lanes, context, context.scores, node_index, node.record->visits);
}

// argmax of softmax(logits + q transform) - N / (1 + sum N). [Danihelka et al. 2022, section 5]
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectGumbelInterior(const Lanes& lanes, const SelectContext& context,
                                               const Node& node, int node_index) {
  const NodeRecord& record = *node.record;
  const ChildStats stats = ComputeChildStats(lanes, node, context.padded_actions);
  const ValueScale scale = NodeValueScale(context, record, stats);
  const float peak = PeakValue(scale, record, stats);
  // Where all actions are visited, padding and actions that the node lacks alone are unvisited, and
  // the exponential of their value may overflow.
  const float unvisited = ExpNonPositive(Min(scale.unvisited, peak) - peak);
  // softmax(logits + value) = prior * exp(value) / sum; where there is no action the prior is 0.
  float* weights = context.scores;
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    const float visited = ExpNonPositive(scale.Visited(node.q[a]) - peak);
    weights[a] = node.prior[a] * (node.visits[a] > 0 ? visited : unvisited);
  }
  const float sum = RowSum(lanes, weights, context.padded_actions);
  // The score times sum and times 1 + sum N, which saves two divisions. The shares of the visits
  // sum to less than 1, so the best score is positive and what has prior 0 (0) never wins.
  const float node_visits = static_cast<float>(record.visits);
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    context.scores[a] = weights[a] * node_visits - static_cast<float>(node.visits[a]) * sum;
  }
  return BestAction(lanes, context, context.scores, node_index, record.visits);
}

// argmax of gumbel + logits + q transform among the actions that have `considered_visits` visits.
// [Danihelka et al. 2022, section 3]
template <typename Lanes>
LZ_HOST_DEVICE inline int SelectGumbelRoot(const Lanes& lanes, const SelectContext& context,
                                           const Node& node, const float* logits,
                                           const float* gumbel, int32_t considered_visits) {
  const ChildStats stats = ComputeChildStats(lanes, node, context.padded_actions);
  const ValueScale scale = NodeValueScale(context, *node.record, stats);
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    const float value = considered_visits > 0 ? scale.Visited(node.q[a]) : scale.unvisited;
    const float score = (gumbel[a] + logits[a]) + value;
    context.scores[a] = node.visits[a] == considered_visits ? score : -kInfinity;
  }
  return BestAction(lanes, context, context.scores, 0, node.record->visits);
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SELECT_H_
