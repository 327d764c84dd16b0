// How Q values enter the score of an action. Every transform comes down to the same few numbers for
// a node: visited actions score (Q - low) * scale between floor and ceiling, unvisited ones a
// constant. Not the exploration term nor the improved policy (select.h). Pure functions, on the
// host and on a CUDA device.
#ifndef LZERO_MCTS_TREE_Q_TRANSFORM_H_
#define LZERO_MCTS_TREE_Q_TRANSFORM_H_

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/lanes.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {
inline namespace LZ_LANES_NAMESPACE {

// `Number` is float for one node, or Float4 for four nodes, one a lane: the same operations.
template <class Number>
struct ValueScaleOf {
  Number low = Spread<Number>(0.0f);
  Number scale = Spread<Number>(1.0f);
  Number floor = Spread<Number>(-kInfinity);
  Number ceiling = Spread<Number>(kInfinity);
  Number unvisited = Spread<Number>(0.0f);

  LZ_HOST_DEVICE Number Visited(Number q) const {
    return Min(Max((q - low) * scale, floor), ceiling);
  }
  // The same bits as Visited, or `unvisited`, for four actions of one node.
  LZ_HOST_DEVICE Float4 Apply(Float4 q, Int4 visits) const {
    const Float4 value = Min(Max((q - low) * scale, Fill(floor)), Fill(ceiling));
    return Choose(visits > 0, value, Fill(unvisited));
  }
};
using ValueScale = ValueScaleOf<float>;

// Sums and extremes over the visited actions of a node.
template <class Number>
struct ChildStatsOf {
  Number sum_prior = Spread<Number>(0.0f);
  Number sum_prior_q = Spread<Number>(0.0f);
  Number min_q = Spread<Number>(kInfinity);  // infinite when nothing is visited
  Number max_q = Spread<Number>(-kInfinity);
  Number max_visits = Spread<Number>(0.0f);
};
using ChildStats = ChildStatsOf<float>;

// What completing Q needs from the record of a node; `Mask` is bool, or Int4 for four nodes.
template <class Number, class Mask>
struct NodeNumbersOf {
  Number value;  // the network's
  Number visits;
  Mask has_visited;    // an action
  Mask has_unvisited;  // action
};
using NodeNumbers = NodeNumbersOf<float, bool>;

// Of a node that is ready. Actions that it lacks do not count.
LZ_HOST_DEVICE inline NodeNumbers NumbersOf(const NodeRecord& record) {
  return {record.value, static_cast<float>(record.visits), record.num_children > 0,
          record.num_children < record.num_actions};
}

LZ_HOST_DEVICE inline ChildStats ComputeChildStats(const Node& node, int padded_actions) {
  Float4 sum_prior = Fill(0.0f);
  Float4 sum_prior_q = Fill(0.0f);
  Float4 min_q = Fill(kInfinity);
  Float4 max_q = Fill(-kInfinity);
  Float4 max_visits = Fill(0.0f);  // exact: visits stay below 2^24, see CheckSearchConfig
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Int4 visits = LoadInt(node.visits + a);
    const Int4 visited = visits > 0;
    const Float4 q = Load(node.q + a);
    const Float4 prior = Choose(visited, Load(node.prior + a), Fill(0.0f));
    sum_prior += prior;
    sum_prior_q += prior * q;
    min_q = Min(Choose(visited, q, Fill(kInfinity)), min_q);
    max_q = Max(Choose(visited, q, Fill(-kInfinity)), max_q);
    max_visits = Max(ToFloat(visits), max_visits);
  }
  const TwoSums sums = SumLanesOfTwo(sum_prior, sum_prior_q);
  return {sums.first, sums.second, MinLanes(min_q)[0], MaxLanes(max_q)[0], MaxLanes(max_visits)[0]};
}

// The value that stands for unvisited actions: the network's value and the prior-weighted Q of the
// visited ones, by visits. [Danihelka et al. 2022, appendix D]
template <class Number, class Mask>
LZ_HOST_DEVICE inline Number MixedValue(const RuleNumbers& rules,
                                        const NodeNumbersOf<Number, Mask>& node,
                                        const ChildStatsOf<Number>& stats) {
  if (!rules.use_mixed_value) return node.value;
  // (value + n * sum_prior_q / sum_prior) / (n + 1) with one division; priors may have underflown.
  constexpr float kTiny = 1e-30f;
  const Number sum_prior = Max(stats.sum_prior, Spread<Number>(kTiny));
  const Number num_visits = node.visits - 1.0f;
  const Number mixed =
      (node.value * sum_prior + num_visits * stats.sum_prior_q) / (sum_prior * (num_visits + 1.0f));
  return Choose(node.has_visited, mixed, node.value);
}

// The first-play value of a node: what an unvisited action is believed to be worth. At the root the
// mean Q of the visited actions (0 if there is none), below it (parent's first-play value + sum of
// visited Q) / (visited + 1) [LightZero ctree, compute_mean_q]. Unlike there, the parent's value
// changes sign where the mover changes.
LZ_HOST_DEVICE inline float FirstPlayValue(const NodeRecord& record, float parent_first_play) {
  const float sum = static_cast<float>(record.q_sum);
  const float count = static_cast<float>(record.num_children);
  if (record.parent < 0) return record.num_children == 0 ? 0.0f : sum / count;
  const float from_parent = record.discount < 0.0f ? -parent_first_play : parent_first_play;
  return (from_parent + sum) / (count + 1.0f);
}

// (Q - min) / max(max - min, delta) over all Q the tree has held, clamped to [0, 1]; everything 0
// while it has held none. [MuZero appendix B] In a tree with chance nodes the edges of actions and
// those of outcomes count alike: the paper's backup updates the range at every node of the path
// [Antonoglou et al. 2022, pseudocode], and so does LightZero; mctx has no range of a tree.
LZ_HOST_DEVICE inline ValueScale TreeMinMaxScale(const RuleNumbers& rules, const RootRecord& root) {
  if (root.min_q > root.max_q) return {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  const float range = root.max_q - root.min_q;
  const float divisor = range > rules.min_max_delta ? range : rules.min_max_delta;
  return {root.min_q, 1.0f / divisor, 0.0f, 1.0f, 0.0f};
}

// A range fixed by the config; unvisited actions score its minimum. [mctx qtransform_by_min_max]
LZ_HOST_DEVICE inline ValueScale FixedRangeScale(const RuleNumbers& rules) {
  return {rules.min_value, 1.0f / (rules.max_value - rules.min_value), -kInfinity, kInfinity, 0.0f};
}

// Low and high over the node's value and the visited Q; unvisited actions score 0. [mctx
// qtransform_by_parent_and_siblings]
LZ_HOST_DEVICE inline ValueScale ParentAndSiblingsScale(const RuleNumbers& rules,
                                                        const NodeRecord& record,
                                                        const ChildStats& stats) {
  const float node_value = static_cast<float>(record.MeanValue());
  const float low = node_value < stats.min_q ? node_value : stats.min_q;
  const float high = node_value > stats.max_q ? node_value : stats.max_q;
  const float range = high - low > rules.epsilon ? high - low : rules.epsilon;
  return {low, 1.0f / range, -kInfinity, kInfinity, 0.0f};
}

// Completed Q, rescaled to [0, 1] over the actions of the node if asked for, times
// (maxvisit_init + max N) * value_scale. [mctx qtransform_completed_by_mix_value]
template <class Number, class Mask>
LZ_HOST_DEVICE inline ValueScaleOf<Number> CompletedScale(const RuleNumbers& rules,
                                                          const NodeNumbersOf<Number, Mask>& node,
                                                          const ChildStatsOf<Number>& stats) {
  const Number strength = (rules.maxvisit_init + stats.max_visits) * rules.value_scale;
  const Number mixed = MixedValue(rules, node, stats);
  ValueScaleOf<Number> scale;
  scale.scale = strength;
  if (rules.rescale_values) {
    const Number low = Choose(node.has_unvisited, Min(mixed, stats.min_q), stats.min_q);
    const Number high = Choose(node.has_unvisited, Max(mixed, stats.max_q), stats.max_q);
    scale.low = low;
    scale.scale = strength / Max(high - low, Spread<Number>(rules.epsilon));
  }
  scale.unvisited = (mixed - scale.low) * scale.scale;
  return scale;
}

// Completed Q normalised by the range of the whole tree instead of the node's own, times the same
// strength as above: what Gumbel uses with q_transform tree_min_max.
template <class Number, class Mask>
LZ_HOST_DEVICE inline ValueScaleOf<Number> CompletedTreeScale(
    const RuleNumbers& rules, const ValueScaleOf<Number>& tree_scale,
    const NodeNumbersOf<Number, Mask>& node, const ChildStatsOf<Number>& stats) {
  const Number strength = (rules.maxvisit_init + stats.max_visits) * rules.value_scale;
  ValueScaleOf<Number> scale = tree_scale;
  scale.scale = scale.scale * strength;
  scale.ceiling = scale.ceiling * strength;
  scale.unvisited = scale.Visited(MixedValue(rules, node, stats));
  return scale;
}

// The largest transformed Q of a node.
template <class Number, class Mask>
LZ_HOST_DEVICE inline Number PeakValue(const ValueScaleOf<Number>& scale,
                                       const NodeNumbersOf<Number, Mask>& node,
                                       const ChildStatsOf<Number>& stats) {
  const Number peak = Choose(node.has_visited, scale.Visited(stats.max_q), scale.unvisited);
  return Choose(node.has_unvisited, Max(scale.unvisited, peak), peak);
}

}  // namespace LZ_LANES_NAMESPACE
}  // namespace lzero

#endif  // LZERO_MCTS_TREE_Q_TRANSFORM_H_
