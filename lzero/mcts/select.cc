#include "lzero/mcts/select.h"

#include "lzero/mcts/ties.h"

namespace lzero {

namespace {

int Choose(const SelectContext& context, const FirstMaximum& maximum, int node_index, int visits) {
  if (context.first_of_ties) return maximum.index();
  return BreakTie(context.scores, context.num_actions, maximum.best(), context.root->tie_key,
                  node_index, visits);
}

ValueScale PuctValueScale(const SelectContext& context, const Node& node, float* first_play) {
  const SearchRules& rules = *context.rules;
  switch (rules.q_transform) {
    case QTransform::kTreeMinMax: {
      *first_play = FirstPlayValue(*node.record, *first_play);
      ValueScale scale = TreeMinMaxScale(rules, *context.root);
      scale.unvisited = scale.Visited(*first_play);
      return scale;
    }
    case QTransform::kParentAndSiblings:
      return ParentAndSiblingsScale(rules, *node.record,
                                    ComputeChildStats(node, context.padded_actions));
    case QTransform::kMinMax:
      return {rules.min_value, 1.0f / (rules.max_value - rules.min_value), -kInfinity, kInfinity,
              0.0f};
    case QTransform::kCompletedByMixValue:
      break;
  }
  return CompletedScale(rules, *node.record, ComputeChildStats(node, context.padded_actions),
                        context.num_actions);
}

}  // namespace

int SelectPuct(const SelectContext& context, const Node& node, int node_index, float* first_play) {
  const ValueScale scale = PuctValueScale(context, node, first_play);
  const int32_t visits = node.record->visits;
  const float exploration = context.rules->exploration[static_cast<size_t>(visits)];
  FirstMaximum maximum;
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Int4 action_visits = LoadInt(node.visits + a);
    const Float4 value = scale.Apply(Load(node.q + a), action_visits);
    const Float4 prior = Load(node.prior + a);
    const Float4 score = value + exploration * prior / ToFloat(action_visits + 1);
    Store(score, context.scores + a);
    maximum.Add(score, a);
  }
  return Choose(context, maximum, node_index, visits);
}

ValueScale GumbelValueScale(const SearchRules& rules, const RootRecord& root,
                            const NodeRecord& record, const ChildStats& stats, int num_actions) {
  switch (rules.q_transform) {
    case QTransform::kTreeMinMax:
      return CompletedTreeScale(rules, root, record, stats);
    case QTransform::kParentAndSiblings:
      return ParentAndSiblingsScale(rules, record, stats);
    case QTransform::kMinMax:
      return {rules.min_value, 1.0f / (rules.max_value - rules.min_value), -kInfinity, kInfinity,
              0.0f};
    case QTransform::kCompletedByMixValue:
      break;
  }
  return CompletedScale(rules, record, stats, num_actions);
}

int SelectGumbelInterior(const SelectContext& context, const Node& node, int node_index) {
  const NodeRecord& record = *node.record;
  const ChildStats stats = ComputeChildStats(node, context.padded_actions);
  const ValueScale scale =
      GumbelValueScale(*context.rules, *context.root, record, stats, context.num_actions);
  float peak = record.num_children == 0 ? scale.unvisited : scale.Visited(stats.max_q);
  if (record.num_children < context.num_actions && scale.unvisited > peak) peak = scale.unvisited;
  // softmax(logits + value) = prior * exp(value) / sum; lanes past the last action have prior 0.
  Float4 sum = Fill(0.0f);
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Float4 value = scale.Apply(Load(node.q + a), LoadInt(node.visits + a));
    const Float4 weight = Load(node.prior + a) * ExpNonPositive(value - peak);
    Store(weight, context.scores + a);
    sum += weight;
  }
  const float inverse_sum = 1.0f / SumLanes(sum);
  // The shares of the visits sum to less than 1, so the best score is positive and padding (0)
  // never wins.
  const float inverse_visits = 1.0f / static_cast<float>(record.visits);
  FirstMaximum maximum;
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Float4 share = ToFloat(LoadInt(node.visits + a)) * inverse_visits;
    const Float4 score = Load(context.scores + a) * inverse_sum - share;
    Store(score, context.scores + a);
    maximum.Add(score, a);
  }
  return Choose(context, maximum, node_index, record.visits);
}

int SelectGumbelRoot(const SelectContext& context, const Node& node, const float* logits,
                     const float* gumbel, int32_t considered_visits) {
  const ChildStats stats = ComputeChildStats(node, context.padded_actions);
  const ValueScale scale =
      GumbelValueScale(*context.rules, *context.root, *node.record, stats, context.num_actions);
  FirstMaximum maximum;
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Int4 visits = LoadInt(node.visits + a);
    const Float4 value = scale.Apply(Load(node.q + a), visits);
    const Float4 sum = (Load(gumbel + a) + Load(logits + a)) + value;
    const Float4 score = visits == considered_visits ? sum : Fill(-kInfinity);
    Store(score, context.scores + a);
    maximum.Add(score, a);
  }
  return Choose(context, maximum, 0, node.record->visits);
}

}  // namespace lzero
