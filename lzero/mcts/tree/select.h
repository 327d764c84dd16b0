// Which action a simulation takes at a node: PUCT, and the two rules of Gumbel (root and interior).
// Pure functions of the tree, on the host and on a CUDA device; the walk down is in simulate.h.
// Inline, because they are its inner loop; `Kind` is what they know when they are compiled.
#ifndef LZERO_MCTS_TREE_SELECT_H_
#define LZERO_MCTS_TREE_SELECT_H_

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/q_transform.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/score_row.h"
#include "lzero/mcts/tree/search_kind.h"
#include "lzero/mcts/tree/ties.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {
inline namespace LZ_LANES_NAMESPACE {

// What selection needs besides the node; the same for one walk down.
struct SelectContext {
  const RulesView* rules;
  const RootRecord* root;
  int num_actions;
  int padded_actions;
  bool first_of_ties;     // otherwise drawn, see ties.h
  float* scores;          // [P] scratch
  ValueScale tree_scale;  // TreeMinMaxScale of the root
};

template <int NumGroups>
LZ_HOST_DEVICE inline int ChooseBest(const SelectContext& context, const ScoreRow<NumGroups>& row,
                                     int node_index, int visits) {
  if (context.first_of_ties) return row.FirstBest();
  return BreakTie(row.InMemory(), context.num_actions, row.best(), context.root->tie_key,
                  node_index, visits);
}

// The q transform of a PUCT node. `first_play` is the parent's first-play value and becomes this
// node's (q_transform tree_min_max only).
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline ValueScale PuctValueScale(const SelectContext& context, const Node& node,
                                                float* first_play) {
  const RuleNumbers& rules = *context.rules;
  const int padded_actions = Kind::Padded(context.padded_actions);
  switch (Kind::Transform(rules)) {
    case QTransform::kTreeMinMax: {
      *first_play = FirstPlayValue(*node.record, *first_play);
      ValueScale scale = context.tree_scale;
      scale.unvisited = scale.Visited(*first_play);
      return scale;
    }
    case QTransform::kParentAndSiblings:
      return ParentAndSiblingsScale(rules, *node.record, ComputeChildStats(node, padded_actions));
    case QTransform::kMinMax:
      return FixedRangeScale(rules);
    case QTransform::kCompletedByMixValue:
      return CompletedScale(rules, NumbersOf(*node.record),
                            ComputeChildStats(node, padded_actions));
  }
  LZ_HOST_CHECK(false, "q transform ", static_cast<int>(rules.q_transform));
  return {};
}

// The q transform of a Gumbel node.
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline ValueScale GumbelValueScale(const SelectContext& context,
                                                  const NodeRecord& record,
                                                  const ChildStats& stats) {
  const RuleNumbers& rules = *context.rules;
  switch (Kind::Transform(rules)) {
    case QTransform::kTreeMinMax:
      return CompletedTreeScale(rules, context.tree_scale, NumbersOf(record), stats);
    case QTransform::kParentAndSiblings:
      return ParentAndSiblingsScale(rules, record, stats);
    case QTransform::kMinMax:
      return FixedRangeScale(rules);
    case QTransform::kCompletedByMixValue:
      return CompletedScale(rules, NumbersOf(record), stats);
  }
  LZ_HOST_CHECK(false, "q transform ", static_cast<int>(rules.q_transform));
  return {};
}

// argmax of the logits: where no action is visited yet, all q transforms and all exploration
// factors are equal, in PUCT and in Gumbel's interior rule. Actions that the node lacks have
// -infinity.
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline int SelectUnvisited(const SelectContext& context, const Node& node,
                                          int node_index) {
  const int padded_actions = Kind::Padded(context.padded_actions);
  ScoreRow<Kind::kGroups> row(context.scores);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Float4 logits = Load(node.prior + a);
    row.Add(logits, a);
  }
  return ChooseBest(context, row, node_index, node.record->visits);
}

// argmax of q transform + P * exploration[node visits] / (1 + N). [MuZero appendix B]
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline int SelectPuct(const SelectContext& context, const Node& node, int node_index,
                                     float* first_play) {
  const int padded_actions = Kind::Padded(context.padded_actions);
  const ValueScale scale = PuctValueScale<Kind>(context, node, first_play);
  const int32_t visits = node.record->visits;
  const float exploration = context.rules->exploration[visits];
  ScoreRow<Kind::kGroups> row(context.scores);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Int4 action_visits = LoadInt(node.visits + a);
    const Float4 value = scale.Apply(Load(node.q + a), action_visits);
    const Float4 prior = Load(node.prior + a);
    const Float4 score = value + exploration * prior / ToFloat(action_visits + 1);
    row.Add(score, a);
  }
  return ChooseBest(context, row, node_index, visits);
}

// argmax of P / (1 + N) over the outcomes of a chance node: a search sees each of n outcomes about
// n * P times, without noise and without the variance of draws, and never fewer than
// floor(n * P) times. [mctx stochastic_muzero_policy; the quotients of D'Hondt] `first_play` as in
// SelectPuct: a chance node, too, is a step on the way to the decisions below it.
LZ_HOST_DEVICE inline int SelectOutcome(const SelectContext& context, const Node& node,
                                        int node_index, float* first_play) {
  *first_play = FirstPlayValue(*node.record, *first_play);
  ScoreRow<0> row(context.scores);
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Float4 score = Load(node.prior + a) / ToFloat(LoadInt(node.visits + a) + 1);
    row.Add(score, a);
  }
  return ChooseBest(context, row, node_index, node.record->visits);
}

// A node where a walk is.
struct NodeVisit {
  const SelectContext* context;
  Node node;
  int32_t index;
};

// argmax of softmax(logits + q transform) - N / (1 + sum N) at each of the nodes, of different
// trees. [Danihelka et al. 2022, section 5] Stage by stage, so that a processor has the arithmetic
// of all of them in its window.
template <class Kind, int NumNodes>
LZ_HOST_DEVICE inline void SelectGumbelInteriors(const NodeVisit (&visits)[NumNodes],
                                                 int (&actions)[NumNodes]) {
  const int padded_actions = Kind::Padded(visits[0].context->padded_actions);
  ValueScale scales[NumNodes];
  float peaks[NumNodes];
  LZ_UNROLL
  for (int k = 0; k < NumNodes; ++k) {
    const NodeRecord& record = *visits[k].node.record;
    const ChildStats stats = ComputeChildStats(visits[k].node, padded_actions);
    const ValueScale scale = GumbelValueScale<Kind>(*visits[k].context, record, stats);
    peaks[k] = PeakValue(scale, NumbersOf(record), stats);
    scales[k] = scale;
    // Where all actions are visited, padding and actions that the node lacks alone take this
    // value, whose exponential may overflow.
    scales[k].unvisited = Min(scale.unvisited, peaks[k]);
  }
  // softmax(logits + value) = prior * exp(value) / sum; where there is no action the prior is 0.
  Float4 sums[NumNodes];
  LZ_UNROLL
  for (int k = 0; k < NumNodes; ++k) {
    const Node& node = visits[k].node;
    sums[k] = Fill(0.0f);
    for (int a = 0; a < padded_actions; a += kLanes) {
      const Float4 value = scales[k].Apply(Load(node.q + a), LoadInt(node.visits + a));
      const Float4 weight = Load(node.prior + a) * ExpNonPositive(value - peaks[k]);
      Store(weight, visits[k].context->scores + a);
      sums[k] += weight;
    }
    sums[k] = SumLanes(sums[k]);
  }
  // The score times sum and times 1 + sum N, which saves two divisions. The shares of the visits
  // sum to less than 1, so the best score is positive and what has prior 0 (0) never wins.
  LZ_UNROLL
  for (int k = 0; k < NumNodes; ++k) {
    const SelectContext& context = *visits[k].context;
    const Node& node = visits[k].node;
    const float node_visits = static_cast<float>(node.record->visits);
    ScoreRow<Kind::kGroups> row(context.scores);
    for (int a = 0; a < padded_actions; a += kLanes) {
      const Float4 action_visits = ToFloat(LoadInt(node.visits + a));
      row.Add(Load(context.scores + a) * node_visits - action_visits * sums[k], a);
    }
    actions[k] = ChooseBest(context, row, visits[k].index, node.record->visits);
  }
}

template <class Kind = AnyKind>
LZ_HOST_DEVICE inline int SelectGumbelInterior(const SelectContext& context, const Node& node,
                                               int node_index) {
  int actions[1];
  SelectGumbelInteriors<Kind, 1>({{&context, node, node_index}}, actions);
  return actions[0];
}

// argmax of gumbel + logits + q transform among the actions that have `considered_visits` visits.
// [Danihelka et al. 2022, section 3]
template <class Kind = AnyKind>
LZ_HOST_DEVICE inline int SelectGumbelRoot(const SelectContext& context, const Node& node,
                                           const float* logits, const float* gumbel,
                                           int32_t considered_visits) {
  const int padded_actions = Kind::Padded(context.padded_actions);
  const ChildStats stats = ComputeChildStats(node, padded_actions);
  const ValueScale scale = GumbelValueScale<Kind>(context, *node.record, stats);
  ScoreRow<Kind::kGroups> row(context.scores);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Int4 visits = LoadInt(node.visits + a);
    const Float4 value = scale.Apply(Load(node.q + a), visits);
    const Float4 sum = (Load(gumbel + a) + Load(logits + a)) + value;
    const Float4 score = Choose(visits == considered_visits, sum, Fill(-kInfinity));
    row.Add(score, a);
  }
  return ChooseBest(context, row, 0, node.record->visits);
}

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SELECT_H_
