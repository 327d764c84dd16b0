#include "lzero/mcts/simulate.h"

#include <cstring>

namespace lzero {

namespace {

// The softmax is computed where it is needed for the first time: at the second visit of the node.
float PriorPadding(const SearchRules& rules) {
  return rules.policy == SearchPolicy::kPuct ? kNoPrior : 0.0f;
}

int SelectRootOfGumbel(const Tree& tree, int b, int simulation, const SelectContext& context,
                       const Node& node) {
  const SearchRules& rules = *context.rules;
  const int num_legal = context.root->num_legal;
  const int considered = num_legal < rules.max_considered ? num_legal : rules.max_considered;
  const int64_t at = int64_t{considered} * rules.num_simulations + simulation;
  return SelectGumbelRoot(context, node, tree.root_logits(b), tree.root_gumbel(b),
                          rules.considered_visits[static_cast<size_t>(at)]);
}

}  // namespace

bool Step(const Tree& tree, int simulation, Cursor* cursor, Leaf* leaf) {
  const SelectContext& context = cursor->context;
  const SearchRules& rules = *context.rules;
  const int32_t n = cursor->node;
  const Node node = tree.nodes(cursor->root)[n];
  if (node.record->state == NodeState::kLeaf) {
    OpenNode(node, context.padded_actions);
    *leaf = {n, SelectUnvisited(context, node, n), -1, cursor->depth};
    return true;
  }
  if (node.record->state == NodeState::kOpened) [[unlikely]] {
    MakeReady(node, context.num_actions, PriorPadding(rules));
  }
  int action;
  if (rules.policy == SearchPolicy::kPuct) {
    action = SelectPuct(context, node, n, &cursor->first_play);
  } else if (n == 0) {
    action = SelectRootOfGumbel(tree, cursor->root, simulation, context, node);
  } else {
    action = SelectGumbelInterior(context, node, n);
  }
  const int32_t child = node.child[action];
  if (child < 0 || cursor->depth >= rules.max_depth) {
    *leaf = {n, action, child, cursor->depth};
    return true;
  }
  cursor->node = child;
  cursor->depth += 1;
  return false;
}

void ExpandNode(const Tree& tree, int b, int n, const Leaf& leaf, const NodeOutputs& outputs) {
  const RootNodes nodes = tree.nodes(b);
  const Node node = nodes[n];
  *node.record = {.value_sum = outputs.value,
                  .q_sum = 0.0,
                  .visits = 1,
                  .num_children = 0,
                  .parent = leaf.parent,
                  .action = leaf.action,
                  .reward = outputs.reward,
                  .discount = outputs.discount,
                  .value = outputs.value,
                  .state = NodeState::kLeaf};
  const int num_actions = tree.num_actions();
  std::memcpy(node.prior, outputs.prior_logits, sizeof(float) * static_cast<size_t>(num_actions));
  for (int a = num_actions; a < tree.padded_actions(); ++a) node.prior[a] = -kInfinity;
  if (leaf.parent >= 0) nodes[leaf.parent].child[leaf.action] = n;
}

void OpenNode(const Node& node, int padded_actions) {
  for (int a = 0; a < padded_actions; ++a) {
    node.q[a] = 0.0f;
    node.visits[a] = 0;
    node.child[a] = -1;
  }
  node.record->state = NodeState::kOpened;
}

void MakeReady(const Node& node, int num_actions, float padding) {
  const int padded_actions = PaddedActions(num_actions);
  float* prior = node.prior;
  Float4 peaks = Fill(-kInfinity);
  for (int a = 0; a < padded_actions; a += kLanes) peaks = Max(Load(prior + a), peaks);
  peaks = MaxLanes(peaks);
  Float4 sums = Fill(0.0f);
  for (int a = 0; a < padded_actions; a += kLanes) {
    const Float4 logits = Load(prior + a);
    const Float4 weights = logits > -kInfinity ? ExpNonPositive(logits - peaks) : Fill(0.0f);
    Store(weights, prior + a);
    sums += weights;
  }
  const Float4 inverse = 1.0f / SumLanes(sums);
  for (int a = 0; a < padded_actions; a += kLanes) {
    Store(Max(Load(prior + a) * inverse, Fill(1e-30f)), prior + a);
  }
  for (int a = num_actions; a < padded_actions; ++a) prior[a] = padding;
  node.record->state = NodeState::kReady;
}

void RevisitNode(const Node& node) {
  node.record->value_sum += node.record->value;
  node.record->visits += 1;
}

void BackUp(const Tree& tree, int b, int leaf) {
  const RootNodes nodes = tree.nodes(b);
  RootRecord& root = tree.root(b);
  float min_q = root.min_q;
  float max_q = root.max_q;
  const NodeRecord* child = nodes[leaf].record;
  double value = child->value;
  while (child->parent >= 0) {
    const Node parent = nodes[child->parent];
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
    min_q = q < min_q ? q : min_q;
    max_q = q > max_q ? q : max_q;
    child = &record;
  }
  root.min_q = min_q;
  root.max_q = max_q;
}

}  // namespace lzero
