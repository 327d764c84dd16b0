// Gumbel's interior rule for four nodes of different trees at once, one node a lane, where nodes
// have few actions: the groups of lanes of select.h would be mostly padding, and the numbers of a
// whole node would be computed one by one. The same operations on each node in the same order, so
// the same decisions. Pure functions of the trees.
#ifndef LZERO_MCTS_TREE_SELECT_ABREAST_H_
#define LZERO_MCTS_TREE_SELECT_ABREAST_H_

#include <cstddef>
#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/q_transform.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/select.h"
#include "lzero/mcts/tree/ties.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {
inline namespace LZ_LANES_NAMESPACE {

// The arrays over actions of four nodes, one node a lane.
template <int NumActions>
struct ActionsAbreast {
  Float4 prior[NumActions];
  Float4 q[NumActions];
  Int4 visits[NumActions];
};

template <int NumActions>
LZ_HOST_DEVICE inline ActionsAbreast<NumActions> LoadActions(const NodeVisit (&nodes)[kLanes]) {
  Float4 priors[kLanes];
  Float4 qs[kLanes];
  Int4 visits[kLanes];
  LZ_UNROLL
  for (int k = 0; k < kLanes; ++k) {
    priors[k] = Load(nodes[k].node.prior);
    qs[k] = Load(nodes[k].node.q);
    visits[k] = LoadInt(nodes[k].node.visits);
  }
  ActionsAbreast<NumActions> actions;
  Transpose(priors, actions.prior);
  Transpose(qs, actions.q);
  Transpose(visits, actions.visits);
  return actions;
}

static_assert(offsetof(NodeRecord, visits) % 16 == 0 &&
                  offsetof(NodeRecord, num_children) == offsetof(NodeRecord, visits) + 4 &&
                  offsetof(NodeRecord, num_actions) == offsetof(NodeRecord, visits) + 8 &&
                  offsetof(NodeRecord, parent) == offsetof(NodeRecord, visits) + 12,
              "LoadNumbers reads four integers from visits on");

// As NumbersOf.
LZ_HOST_DEVICE inline NodeNumbersOf<Float4, Int4> LoadNumbers(const NodeVisit (&nodes)[kLanes]) {
  Float4 values[kLanes];
  Int4 counts[kLanes];
  LZ_UNROLL
  for (int k = 0; k < kLanes; ++k) {
    const NodeRecord& record = *nodes[k].node.record;
    values[k] = Fill(record.value);
    counts[k] = LoadInt(&record.visits);  // num_children, num_actions and parent
  }
  Float4 value[1];
  Int4 count[3];
  Transpose(values, value);
  Transpose(counts, count);
  return {value[0], ToFloat(count[0]), count[1] > 0, count[1] < count[2]};
}

// The sum over actions in the order of SumLanes, where padding is 0: the same bits but for the sign
// of a zero, which decides nothing.
template <int NumActions>
LZ_HOST_DEVICE inline Float4 SumActions(const Float4 (&numbers)[NumActions]) {
  static_assert(NumActions >= 2 && NumActions <= kLanes, "one group of lanes");
  Float4 first = numbers[0];
  Float4 second = numbers[1];
  if constexpr (NumActions > 2) first += numbers[2];
  if constexpr (NumActions > 3) second += numbers[3];
  return first + second;
}

template <int NumActions>
LZ_HOST_DEVICE inline ChildStatsOf<Float4> ComputeChildStats(
    const ActionsAbreast<NumActions>& actions) {
  Float4 priors[NumActions];
  Float4 prior_qs[NumActions];
  ChildStatsOf<Float4> stats;
  LZ_UNROLL
  for (int a = 0; a < NumActions; ++a) {
    const Int4 visited = actions.visits[a] > 0;
    priors[a] = Choose(visited, actions.prior[a], Fill(0.0f));
    prior_qs[a] = priors[a] * actions.q[a];
    stats.min_q = Min(Choose(visited, actions.q[a], Fill(kInfinity)), stats.min_q);
    stats.max_q = Max(Choose(visited, actions.q[a], Fill(-kInfinity)), stats.max_q);
    stats.max_visits = Max(ToFloat(actions.visits[a]), stats.max_visits);
  }
  stats.sum_prior = SumActions(priors);
  stats.sum_prior_q = SumActions(prior_qs);
  return stats;
}

// As GumbelValueScale. A tree with interior nodes has held a Q: its scale ends at 0 and 1.
template <class Kind>
LZ_HOST_DEVICE inline ValueScaleOf<Float4> GumbelValueScales(
    const NodeVisit (&nodes)[kLanes], const NodeNumbersOf<Float4, Int4>& numbers,
    const ChildStatsOf<Float4>& stats) {
  const RuleNumbers& rules = *nodes[0].context->rules;
  if constexpr (Kind::kTransform == QTransform::kCompletedByMixValue) {
    return CompletedScale(rules, numbers, stats);
  } else {
    static_assert(Kind::kTransform == QTransform::kTreeMinMax, "no kinds for the others");
    Float4 lows[kLanes];
    Float4 scales[kLanes];
    LZ_UNROLL
    for (int k = 0; k < kLanes; ++k) {
      lows[k] = Fill(nodes[k].context->tree_scale.low);
      scales[k] = Fill(nodes[k].context->tree_scale.scale);
    }
    Float4 low[1];
    Float4 scale[1];
    Transpose(lows, low);
    Transpose(scales, scale);
    return CompletedTreeScale(rules, {low[0], scale[0], Fill(0.0f), Fill(1.0f), Fill(0.0f)},
                              numbers, stats);
  }
}

// prior * exp(value - largest value). Where all actions are visited, those that the node lacks
// alone are unvisited: their value is not to be the largest.
template <int NumActions>
LZ_HOST_DEVICE inline void ComputeWeights(const ActionsAbreast<NumActions>& actions,
                                          const ValueScaleOf<Float4>& scale, Int4 has_unvisited,
                                          Float4 (&weights)[NumActions]) {
  const Float4 unvisited = Choose(has_unvisited, scale.unvisited, Fill(-kInfinity));
  Float4 values[NumActions];
  LZ_UNROLL
  for (int a = 0; a < NumActions; ++a) {
    values[a] = Choose(actions.visits[a] > 0, scale.Visited(actions.q[a]), unvisited);
  }
  if constexpr (NumActions == 2) {  // one of the two is exp(0) = 1
    const Float4 peak = Max(values[0], values[1]);
    const Float4 other = ExpNonPositive(Min(values[0], values[1]) - peak);
    weights[0] = Choose(values[0] < peak, actions.prior[0] * other, actions.prior[0]);
    weights[1] = Choose(values[1] < peak, actions.prior[1] * other, actions.prior[1]);
  } else {
    Float4 peak = values[0];
    for (int a = 1; a < NumActions; ++a) peak = Max(values[a], peak);
    LZ_UNROLL
    for (int a = 0; a < NumActions; ++a) {
      weights[a] = actions.prior[a] * ExpNonPositive(values[a] - peak);
    }
  }
}

// Apart, because it is rare.
template <int NumActions>
LZ_HOST_DEVICE LZ_NOINLINE inline void BreakTies(const NodeVisit* nodes, const Float4* scores,
                                                 Float4 best, int* actions) {
  for (int k = 0; k < kLanes; ++k) {
    float row[NumActions];
    for (int a = 0; a < NumActions; ++a) row[a] = scores[a][k];
    actions[k] = BreakTie(row, NumActions, best[k], nodes[k].context->root->tie_key, nodes[k].index,
                          nodes[k].node.record->visits);
  }
}

// As SelectGumbelInteriors.
template <class Kind>
LZ_HOST_DEVICE inline void SelectGumbelAbreast(const NodeVisit (&nodes)[kLanes],
                                               int (&best_actions)[kLanes]) {
  constexpr int kNumActions = Kind::kActionsAbreast;
  const ActionsAbreast<kNumActions> actions = LoadActions<kNumActions>(nodes);
  const NodeNumbersOf<Float4, Int4> numbers = LoadNumbers(nodes);
  const ValueScaleOf<Float4> scale =
      GumbelValueScales<Kind>(nodes, numbers, ComputeChildStats(actions));
  Float4 weights[kNumActions];
  ComputeWeights(actions, scale, numbers.has_unvisited, weights);
  const Float4 sum = SumActions(weights);
  Float4 scores[kNumActions];
  Float4 best = Fill(-kInfinity);
  LZ_UNROLL
  for (int a = 0; a < kNumActions; ++a) {
    scores[a] = weights[a] * numbers.visits - ToFloat(actions.visits[a]) * sum;
    best = Max(scores[a], best);
  }
  Int4 first_best = FillInt(0);
  Int4 num_best = FillInt(0);
  LZ_UNROLL
  for (int a = kNumActions - 1; a >= 0; --a) {
    const Int4 is_best = scores[a] == best;
    first_best = Choose(is_best, FillInt(a), first_best);
    num_best = num_best - is_best;
  }
  LZ_UNROLL
  for (int k = 0; k < kLanes; ++k) best_actions[k] = first_best[k];
  if (MaskBits(num_best > 1) != 0 && !nodes[0].context->first_of_ties) {
    NodeVisit tied_nodes[kLanes];
    Float4 tied_scores[kNumActions];
    int tied_actions[kLanes];
    LZ_UNROLL
    for (int k = 0; k < kLanes; ++k) tied_nodes[k] = nodes[k];
    LZ_UNROLL
    for (int a = 0; a < kNumActions; ++a) tied_scores[a] = scores[a];
    BreakTies<kNumActions>(tied_nodes, tied_scores, best, tied_actions);
    LZ_UNROLL
    for (int k = 0; k < kLanes; ++k) best_actions[k] = tied_actions[k];
  }
}

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_SELECT_ABREAST_H_
