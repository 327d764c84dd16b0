// The root of one tree: legal actions and noise before a search, results after it. For the host and
// for a CUDA device. The host draws the noise (root_noise.h).
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
LZ_HOST_DEVICE inline void BeginTree(const TreeView& tree, const RulesView& rules, int b,
                                     const RootStart& start) {
  const int num_actions = tree.num_actions;
  const bool puct = rules.policy == SearchPolicy::kPuct;
  const Node node = tree.nodes(b)[0];
  ExpandNode(tree, b, 0, {-1, -1, -1, 0}, {0.0f, 0.0f, start.value, start.prior_logits});
  int32_t num_legal = 0;
  float peak = -kInfinity;
  for (int a = 0; a < num_actions; ++a) {
    if (!start.legal[a]) node.prior[a] = -kInfinity;
    num_legal += start.legal[a] != 0;
    peak = peak < node.prior[a] ? node.prior[a] : peak;
  }
  if (!puct) {
    float* root_logits = tree.root_logits(b);
    float* root_gumbel = tree.root_gumbel(b);
    for (int a = 0; a < tree.padded_actions; ++a) {
      root_logits[a] = a < num_actions ? node.prior[a] - peak : -kInfinity;
      root_gumbel[a] =
          start.noise != nullptr && a < num_actions ? static_cast<float>(start.noise[a]) : 0.0f;
    }
  }
  OpenNode(node, tree.padded_actions);
  MakeReady(node, tree.padded_actions, MissingPrior(rules));
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

// The most visited action, and the shares of the visits.
LZ_HOST_DEVICE inline void FinishPuctRoot(const SelectContext& context, const Node& node,
                                          const RootResults& results) {
  const int num_simulations = context.rules->num_simulations;
  for (int a = 0; a < context.padded_actions; ++a) {
    context.scores[a] = static_cast<float>(node.visits[a]);
  }
  for (int a = 0; a < context.num_actions; ++a) {
    results.action_weights[a] =
        static_cast<float>(static_cast<double>(node.visits[a]) / num_simulations);
  }
  // Nodes end at num_simulations: ties under the next number are drawn here alone.
  *results.best_action =
      BestAction(context, context.scores, num_simulations + 1, node.record->visits);
}

// The best score among the most visited actions, and the improved policy: softmax(logits + q
// transform) over legal actions; illegal logits are -inf.
LZ_HOST_DEVICE inline void FinishGumbelRoot(const SelectContext& context, const Node& node,
                                            const float* logits, const float* gumbel,
                                            const RootResults& results) {
  const ChildStats stats = ComputeChildStats(node, context.padded_actions);
  const ValueScale scale = NodeValueScale(context, *node.record, stats);
  *results.best_action =
      SelectGumbelRoot(context, node, logits, gumbel, static_cast<int32_t>(stats.max_visits));
  float* weights = results.action_weights;
  double peak = -kInfinity;
  for (int a = 0; a < context.num_actions; ++a) {
    weights[a] = logits[a] + scale.Apply(node.q[a], node.visits[a]);
    peak = peak < weights[a] ? static_cast<double>(weights[a]) : peak;
  }
  double sum = 0.0;
  for (int a = 0; a < context.num_actions; ++a) sum += exp(weights[a] - peak);
  for (int a = 0; a < context.num_actions; ++a) {
    weights[a] = static_cast<float>(exp(weights[a] - peak) / sum);
  }
}

// Writes what a search of tree `b` found about the context.num_actions actions of its root.
LZ_HOST_DEVICE inline void FinishTree(const TreeView& tree, int b, const SelectContext& context,
                                      const RootResults& results) {
  const Node node = tree.nodes(b)[0];
  *results.root_value = static_cast<float>(node.record->MeanValue());
  *results.network_value = node.record->value;
  for (int a = 0; a < context.num_actions; ++a) {
    results.visit_counts[a] = node.visits[a];
    results.q_values[a] = node.q[a];
  }
  if (context.rules->policy == SearchPolicy::kPuct) {
    FinishPuctRoot(context, node, results);
  } else {
    FinishGumbelRoot(context, node, tree.root_logits(b), tree.root_gumbel(b), results);
  }
}

}  // namespace lzero

#endif  // LZERO_MCTS_TREE_ROOT_H_
