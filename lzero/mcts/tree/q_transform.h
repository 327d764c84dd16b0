// How Q values enter the score of an action. Every transform comes down to the same few numbers for
// a node: visited actions score (Q - low) * scale between floor and ceiling, unvisited ones a
// constant. Not the exploration term nor the improved policy (select.h). Pure functions, on the
// host and on a CUDA device.
#ifndef LZERO_MCTS_TREE_Q_TRANSFORM_H_
#define LZERO_MCTS_TREE_Q_TRANSFORM_H_

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/rules_view.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

struct ValueScale {
  float low = 0.0f;
  float scale = 1.0f;
  float floor = -kInfinity;
  float ceiling = kInfinity;
  float unvisited = 0.0f;

  LZ_HOST_DEVICE float Visited(float q) const {
    return Min(Max((q - low) * scale, floor), ceiling);
  }
  LZ_HOST_DEVICE float Apply(float q, int32_t visits) const {
    const float value = Visited(q);
    return visits > 0 ? value : unvisited;
  }
};

// Sums and extremes over the visited actions of a node.
struct ChildStats {
  float sum_prior = 0.0f;
  float sum_prior_q = 0.0f;
  float min_q = kInfinity;  // infinite when nothing is visited
  float max_q = -kInfinity;
  float max_visits = 0.0f;  // exact: visits stay below 2^24
};

template <typename Lanes>
LZ_HOST_DEVICE inline ChildStats ComputeChildStats(const Lanes& lanes, const Node& node,
                                                   int padded_actions) {
  float sum_prior[kGroup] = {0.0f, 0.0f, 0.0f, 0.0f};
  float sum_prior_q[kGroup] = {0.0f, 0.0f, 0.0f, 0.0f};
  float min_q[kGroup] = {kInfinity, kInfinity, kInfinity, kInfinity};
  float max_q[kGroup] = {-kInfinity, -kInfinity, -kInfinity, -kInfinity};
  float max_visits[kGroup] = {0.0f, 0.0f, 0.0f, 0.0f};
  for (int group = FirstOfPartials(lanes); group < padded_actions; group += kGroup) {
    LZ_UNROLL
    for (int i = 0; i < kOwnPartials<Lanes>; ++i) {
      const int32_t visits = node.visits[group + i];
      const float q = node.q[group + i];
      const float prior = node.prior[group + i];
      const float visited_prior = visits > 0 ? prior : 0.0f;
      sum_prior[i] += visited_prior;
      sum_prior_q[i] += visited_prior * q;
      min_q[i] = Min(visits > 0 ? q : kInfinity, min_q[i]);
      max_q[i] = Max(visits > 0 ? q : -kInfinity, max_q[i]);
      max_visits[i] = Max(static_cast<float>(visits), max_visits[i]);
    }
  }
  return {JoinSums(lanes, sum_prior), JoinSums(lanes, sum_prior_q), JoinMinima(lanes, min_q),
          JoinMaxima(lanes, max_q), JoinMaxima(lanes, max_visits)};
}

// The node must be ready. Actions that it lacks do not count.
LZ_HOST_DEVICE inline bool HasUnvisited(const NodeRecord& record) {
  return record.num_children < record.num_actions;
}

// The value that stands for unvisited actions: the network's value and the prior-weighted Q of the
// visited ones, by visits. [Danihelka et al. 2022, appendix D]
LZ_HOST_DEVICE inline float MixedValue(const RulesView& rules, const NodeRecord& record,
                                       const ChildStats& stats) {
  if (!rules.use_mixed_value || record.num_children == 0) return record.value;
  // (value + n * sum_prior_q / sum_prior) / (n + 1) with one division; priors may have underflown.
  constexpr float kTiny = 1e-30f;
  const float sum_prior = Max(stats.sum_prior, kTiny);
  const float num_visits = static_cast<float>(record.visits) - 1.0f;
  return (record.value * sum_prior + num_visits * stats.sum_prior_q) /
         (sum_prior * (num_visits + 1.0f));
}

// First-play urgency of a node: what an unvisited action is believed to be worth. At the root the
// mean Q of the visited actions (0 if there is none), below it (parent's fpu + sum of visited Q) /
// (visited + 1) [LightZero ctree, compute_mean_q]. Unlike there, the parent's value changes sign
// where the mover changes.
LZ_HOST_DEVICE inline float FpuValue(const NodeRecord& record, float parent_fpu) {
  const float sum = static_cast<float>(record.q_sum);
  const float count = static_cast<float>(record.num_children);
  if (record.parent < 0) return record.num_children == 0 ? 0.0f : sum / count;
  const float from_parent = record.discount < 0.0f ? -parent_fpu : parent_fpu;
  return (from_parent + sum) / (count + 1.0f);
}

// (Q - min) / max(max - min, delta) over all Q the tree has held, clamped to [0, 1]; everything 0
// while it has held none. [MuZero appendix B] In a tree with chance nodes the edges of actions and
// those of outcomes count alike: the paper's backup updates the range at every node of the path
// [Antonoglou et al. 2022, pseudocode], and so does LightZero; mctx has no range of a tree.
LZ_HOST_DEVICE inline ValueScale TreeMinMaxScale(const RulesView& rules, const RootRecord& root) {
  if (root.min_q > root.max_q) return {0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
  const float range = root.max_q - root.min_q;
  const float divisor = range > rules.min_max_delta ? range : rules.min_max_delta;
  return {root.min_q, 1.0f / divisor, 0.0f, 1.0f, 0.0f};
}

// A range fixed by the config; unvisited actions score its minimum. [mctx qtransform_by_min_max]
LZ_HOST_DEVICE inline ValueScale FixedRangeScale(const RulesView& rules) {
  return {rules.min_value, 1.0f / (rules.max_value - rules.min_value), -kInfinity, kInfinity, 0.0f};
}

// Low and high over the node's value and the visited Q; unvisited actions score 0. [mctx
// qtransform_by_parent_and_siblings]
LZ_HOST_DEVICE inline ValueScale ParentAndSiblingsScale(const RulesView& rules,
                                                        const NodeRecord& record,
                                                        const ChildStats& stats) {
  const float node_value = static_cast<float>(record.MeanValue());
  const float low = Min(node_value, stats.min_q);
  const float high = Max(node_value, stats.max_q);
  return {low, 1.0f / Max(high - low, rules.epsilon), -kInfinity, kInfinity, 0.0f};
}

// Completed Q, rescaled to [0, 1] over the actions of the node if asked for, times
// (maxvisit_init + max N) * value_scale. [mctx qtransform_completed_by_mix_value]
LZ_HOST_DEVICE inline ValueScale CompletedScale(const RulesView& rules, const NodeRecord& record,
                                                const ChildStats& stats) {
  const float strength = (rules.maxvisit_init + stats.max_visits) * rules.value_scale;
  const float mixed = MixedValue(rules, record, stats);
  ValueScale scale;
  scale.scale = strength;
  if (rules.rescale_values) {
    const bool has_unvisited = HasUnvisited(record);
    scale.low = has_unvisited ? Min(mixed, stats.min_q) : stats.min_q;
    const float high = has_unvisited ? Max(mixed, stats.max_q) : stats.max_q;
    scale.scale = strength / Max(high - scale.low, rules.epsilon);
  }
  scale.unvisited = (mixed - scale.low) * scale.scale;
  return scale;
}

// Completed Q normalised by the range of the whole tree instead of the node's own, times the same
// strength as above: what Gumbel uses with q_transform tree_min_max.
LZ_HOST_DEVICE inline ValueScale CompletedTreeScale(const RulesView& rules,
                                                    const ValueScale& tree_scale,
                                                    const NodeRecord& record,
                                                    const ChildStats& stats) {
  const float strength = (rules.maxvisit_init + stats.max_visits) * rules.value_scale;
  ValueScale scale = tree_scale;
  scale.scale *= strength;
  scale.ceiling *= strength;
  scale.unvisited = scale.Visited(MixedValue(rules, record, stats));
  return scale;
}

// The largest transformed Q of a node.
LZ_HOST_DEVICE inline float PeakValue(const ValueScale& scale, const NodeRecord& record,
                                      const ChildStats& stats) {
  const float peak = record.num_children > 0 ? scale.Visited(stats.max_q) : scale.unvisited;
  return HasUnvisited(record) ? Max(scale.unvisited, peak) : peak;
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_Q_TRANSFORM_H_
