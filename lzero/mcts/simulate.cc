#include "lzero/mcts/simulate.h"

#include <cstring>

namespace lzero {

Leaf Descend(const Tree& tree, int b, int simulation, const SelectContext& context) {
  const SearchRules& rules = *context.rules;
  int n = 0;
  float first_play = 0.0f;
  for (int depth = 1;; ++depth) {
    const Node node = tree.At(b, n);
    int action;
    if (rules.policy == SearchPolicy::kPuct) {
      action = SelectPuct(context, node, n, &first_play);
    } else if (n == 0) {
      const int considered = context.root->num_legal < rules.max_considered
                                 ? context.root->num_legal
                                 : rules.max_considered;
      const int64_t at = int64_t{considered} * rules.num_simulations + simulation;
      action = SelectGumbelRoot(context, node, tree.root_logits(b), tree.root_gumbel(b),
                                rules.considered_visits[static_cast<size_t>(at)]);
    } else {
      action = SelectGumbelInterior(context, node, n);
    }
    const int32_t child = node.child[action];
    if (child < 0 || depth >= rules.max_depth) return {n, action, child, depth};
    n = child;
  }
}

void Softmax(const float* logits, int num_actions, float padding, float* prior) {
  const int padded_actions = PaddedActions(num_actions);
  std::memcpy(prior, logits, sizeof(float) * static_cast<size_t>(num_actions));
  for (int a = num_actions; a < padded_actions; ++a) prior[a] = -kInfinity;
  Float4 peaks = Fill(-kInfinity);
  for (int a = 0; a < padded_actions; a += kLanes) peaks = Max(Load(prior + a), peaks);
  const float peak = MaxLane(peaks);
  Float4 sums = Fill(0.0f);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Float4 logit = Load(prior + a);
    const Float4 weight = logit > -kInfinity ? ExpNonPositive(logit - peak) : Fill(0.0f);
    Store(weight, prior + a);
    sums += weight;
  }
  const float inverse = 1.0f / SumLanes(sums);
  for (int a = 0; a < padded_actions; a += kLanes) {
    Store(Max(Load(prior + a) * inverse, Fill(1e-30f)), prior + a);
  }
  for (int a = num_actions; a < padded_actions; ++a) prior[a] = padding;
}

void ExpandNode(const Tree& tree, int b, int n, const Leaf& leaf, SearchPolicy policy,
                const NodeOutputs& outputs) {
  const Node node = tree.At(b, n);
  NodeRecord& record = *node.record;
  record.value_sum = outputs.value;
  record.q_sum = 0.0;
  record.visits = 1;
  record.num_children = 0;
  record.parent = leaf.parent;
  record.action = leaf.action;
  record.reward = outputs.reward;
  record.discount = outputs.discount;
  record.value = outputs.value;
  record.depth = leaf.depth;
  Softmax(outputs.prior_logits, tree.num_actions(), policy == SearchPolicy::kPuct ? kNoPrior : 0.0f,
          node.prior);
  for (int a = 0; a < tree.padded_actions(); ++a) {
    node.q[a] = 0.0f;
    node.visits[a] = 0;
    node.child[a] = -1;
  }
  if (leaf.parent >= 0) tree.At(b, leaf.parent).child[leaf.action] = n;
}

void BackUp(const Tree& tree, int b, int leaf) {
  RootRecord& root = tree.root(b);
  const NodeRecord* child = tree.At(b, leaf).record;
  double value = child->value;
  while (child->parent >= 0) {
    const Node parent = tree.At(b, child->parent);
    NodeRecord& record = *parent.record;
    value = child->reward + child->discount * value;
    record.value_sum += value;
    record.visits += 1;
    const float q = static_cast<float>(child->reward + child->discount * child->MeanValue());
    const int action = child->action;
    record.q_sum += static_cast<double>(q) - parent.q[action];
    record.num_children += parent.visits[action] == 0;
    parent.visits[action] += 1;
    parent.q[action] = q;
    if (q < root.min_q) root.min_q = q;
    if (q > root.max_q) root.max_q = q;
    child = &record;
  }
}

}  // namespace lzero
