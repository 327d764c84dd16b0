// The root of one tree: legal actions and noise before a search, results after it. For the host and
// for a CUDA device, where lanes (base/lanes/one_lane.h) share the actions. The host draws the
// noise (root_noise.h).
#ifndef LZERO_MCTS_TREE_ROOT_H_
#define LZERO_MCTS_TREE_ROOT_H_

#include <cmath>
#include <cstdint>

#include "lzero/base/host_device.h"
#include "lzero/mcts/tree/action_row.h"
#include "lzero/mcts/tree/select.h"
#include "lzero/mcts/tree/simulate.h"
#include "lzero/mcts/tree/tree_view.h"

namespace lzero {

// What a search begins with at one root, apart from noise. Rows are as wide as the tree, which is
// wider than A where it has more chance outcomes than actions: the rest is not legal.
struct RootStart {
  int32_t env;
  uint64_t tie_key;           // see tie_key.h
  float value;                // the network's
  const float* prior_logits;  // [A], above -infinity where legal
  const uint8_t* legal;       // [A], 1 = legal; at least one is
  const double* noise;        // [A], see root_noise.h; null: none
  int32_t num_actions;        // A
};

// Mixes noise into the priors of the legal actions.
LZ_HOST_DEVICE inline void MixRootNoise(const RulesView& rules, int num_actions,
                                        const uint8_t* legal, const double* noise, float* prior) {
  for (int a = 0; a < num_actions; ++a) {
    if (!legal[a]) continue;
    prior[a] = static_cast<float>((1.0 - rules.root_noise_fraction) * prior[a] +
                                  rules.root_noise_fraction * *noise++);
  }
}

// Empties tree `b` but for its root, which is ready to be searched.
template <typename Lanes>
LZ_HOST_DEVICE inline void BeginTree(const Lanes& lanes, const TreeView& tree,
                                     const RulesView& rules, int b, const RootStart& start) {
  const int num_actions = tree.num_actions;
  const bool puct = rules.policy == SearchPolicy::kPuct;
  const Node node = tree.nodes(b)[0];
  ExpandNode(lanes, tree, b, 0, {-1, -1, -1, 0}, {0.0f, 0.0f, start.value, start.prior_logits});
  int32_t num_legal = 0;
  for (int a = lanes.lane(); a < num_actions; a += lanes.count()) {
    if (!start.legal[a]) node.prior[a] = -kInfinity;
    num_legal += start.legal[a] != 0;
  }
  num_legal = lanes.Sum(num_legal);
  if (!puct) {
    const float peak = RowMax(lanes, node.prior, tree.padded_actions);
    float* root_logits = tree.root_logits(b);
    float* root_gumbel = tree.root_gumbel(b);
    for (int a = lanes.lane(); a < tree.padded_actions; a += lanes.count()) {
      root_logits[a] = a < num_actions ? node.prior[a] - peak : -kInfinity;
      root_gumbel[a] =
          start.noise != nullptr && a < num_actions ? static_cast<float>(start.noise[a]) : 0.0f;
    }
  }
  if (puct && start.noise != nullptr && rules.root_policy_temperature != 1.0f) {
    for (int a = lanes.lane(); a < num_actions; a += lanes.count()) {
      node.prior[a] /= rules.root_policy_temperature;
    }
  }
  OpenNode(lanes, node, tree.padded_actions);
  MakeReady(lanes, node, tree.padded_actions, MissingPrior(rules));
  if (lanes.lane() != 0) return;
  // At the root illegal actions count as unvisited ones where Q is completed, as in mctx, which
  // knows illegal actions at the root alone: the range of completed Q holds the mixed value.
  node.record->num_actions = start.num_actions;
  if (puct && start.noise != nullptr) {
    MixRootNoise(rules, num_actions, start.legal, start.noise, node.prior);
  }
  tree.root(b) = {kInfinity, -kInfinity, start.env, num_legal, start.tie_key};
}

// Where the results of one root go.
struct RootResults {
  int32_t* visit_counts;  // [A]
  float* q_values;        // [A]
  float* action_weights;  // [A]
  float* root_value;
  float* network_value;
  int32_t* best_action;
};

// Shares of the visits without those that were forced: of every action but the best as many, up to
// all that could be, as leave its score below the best one's; what is left of one visit or less is
// none. [Wu 2019, section 3.2]
template <typename Lanes>
LZ_HOST_DEVICE inline void PruneForcedPlayouts(const Lanes& lanes, const SelectContext& context,
                                               const Node& node, int best,
                                               const RootResults& results) {
  ValueScale scale = context.tree_scale;
  if (context.rules->q_transform != QTransform::kTreeMinMax) {
    scale = NodeValueScale(context, *node.record,
                           ComputeChildStats(lanes, node, context.padded_actions));
  }
  const float exploration = context.rules->exploration[node.record->visits];
  const auto score = [&](int a, int32_t visits) {
    return scale.Visited(node.q[a]) + exploration * node.prior[a] / static_cast<float>(visits + 1);
  };
  const float best_score = score(best, node.visits[best]);
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    int32_t kept = node.visits[a];
    if (a != best && kept > 0) {
      const auto forced = static_cast<int32_t>(ForcedVisits(context, node, a));
      const int32_t least = Max(kept - forced, 0);
      while (kept > least && score(a, kept - 1) < best_score) --kept;
      if (kept <= 1) kept = 0;
    }
    context.scores[a] = static_cast<float>(kept);
  }
  const float sum = RowSum(lanes, context.scores, context.padded_actions);
  for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
    results.action_weights[a] = context.scores[a] / sum;
  }
}

// The most visited action, and the shares of the visits.
template <typename Lanes>
LZ_HOST_DEVICE inline void FinishPuctRoot(const Lanes& lanes, const SelectContext& context,
                                          const Node& node, const RootResults& results) {
  const int num_simulations = context.rules->num_simulations;
  for (int a = lanes.lane(); a < context.padded_actions; a += lanes.count()) {
    context.scores[a] = static_cast<float>(node.visits[a]);
  }
  for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
    results.action_weights[a] =
        static_cast<float>(static_cast<double>(node.visits[a]) / num_simulations);
  }
  // Nodes end at num_simulations: ties under the next number are drawn here alone.
  const int best =
      BestAction(lanes, context, context.scores, num_simulations + 1, node.record->visits);
  if (lanes.lane() == 0) *results.best_action = best;
  if (HasForcedPlayouts(context)) PruneForcedPlayouts(lanes, context, node, best, results);
}

// The sum of value(a) for all a < count, added in their order.
template <typename Lanes, typename Value>
LZ_HOST_DEVICE inline double SumInOrder(const Lanes& lanes, int count, const Value& value) {
  double sum = 0.0;
  for (int first = 0; first < count; first += lanes.count()) {
    const int a = first + lanes.lane();
    const double own = a < count ? value(a) : 0.0;
    for (int lane = 0; lane < lanes.count(); ++lane) sum += lanes.Read(own, lane);
  }
  return sum;
}

// The best score among the most visited actions, and the improved policy: softmax(logits + q
// transform) over legal actions; illegal logits are -inf.
template <typename Lanes>
LZ_HOST_DEVICE inline void FinishGumbelRoot(const Lanes& lanes, const SelectContext& context,
                                            const Node& node, const float* logits,
                                            const float* gumbel, const RootResults& results) {
  const ChildStats stats = ComputeChildStats(lanes, node, context.padded_actions);
  const ValueScale scale = NodeValueScale(context, *node.record, stats);
  const int best = SelectGumbelRoot(lanes, context, node, logits, gumbel,
                                    static_cast<int32_t>(stats.max_visits));
  if (lanes.lane() == 0) *results.best_action = best;
  float* weights = results.action_weights;
  float peak = -kInfinity;
  for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
    weights[a] = logits[a] + scale.Apply(node.q[a], node.visits[a]);
    peak = Max(weights[a], peak);
  }
  peak = lanes.Max(peak);
  const auto weight = [weights, peak](int a) { return exp(double{weights[a]} - peak); };
  const double sum = SumInOrder(lanes, context.num_actions, weight);
  for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
    weights[a] = static_cast<float>(weight(a) / sum);
  }
}

// Writes what a search of tree `b` found about the context.num_actions actions of its root.
template <typename Lanes>
LZ_HOST_DEVICE inline void FinishTree(const Lanes& lanes, const TreeView& tree, int b,
                                      const SelectContext& context, const RootResults& results) {
  const Node node = tree.nodes(b)[0];
  if (lanes.lane() == 0) {
    *results.root_value = static_cast<float>(node.record->MeanValue());
    *results.network_value = node.record->value;
  }
  for (int a = lanes.lane(); a < context.num_actions; a += lanes.count()) {
    results.visit_counts[a] = node.visits[a];
    results.q_values[a] = node.q[a];
  }
  if (context.rules->policy == SearchPolicy::kPuct) {
    FinishPuctRoot(lanes, context, node, results);
  } else {
    FinishGumbelRoot(lanes, context, node, tree.root_logits(b), tree.root_gumbel(b), results);
  }
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_ROOT_H_
