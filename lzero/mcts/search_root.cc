// The root of a search: legal actions and noise before it, results after it.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/mcts/search.h"
#include "lzero/mcts/ties.h"

namespace lzero {

namespace {

RandomStream NoiseStream(const SearchRequest& request, const Root& root) {
  const uint64_t env = static_cast<uint64_t>(static_cast<uint32_t>(root.env.value));
  return RandomStream(StreamKey(request.seed, "root noise", request.search_index), "environment",
                      env);
}

}  // namespace

void Search::PrepareRoot(int b, const Root& root, const SearchRequest& request) {
  const int num_actions = tree_.num_actions();
  const size_t first = static_cast<size_t>(b) * static_cast<size_t>(num_actions);
  RootRecord& record = tree_.root(b);
  record.min_q = kInfinity;
  record.max_q = -kInfinity;
  record.env = root.env.value;
  record.num_legal = 0;
  record.tie_key = TieKey(request.seed, request.search_index, root.env.value);
  float peak = -kInfinity;
  for (int a = 0; a < num_actions; ++a) {
    const size_t i = static_cast<size_t>(a);
    const bool legal = root.legal_action_mask[i] != 0;
    logits_[i] = legal ? batch_.prior_logits[first + i] : -kInfinity;
    record.num_legal += legal;
    peak = std::max(peak, logits_[i]);
  }
  const Leaf no_edge = {-1, -1, -1, 0};
  const bool puct = rules_.policy == SearchPolicy::kPuct;
  const Node node = tree_.At(b, 0);
  ExpandNode(tree_, b, 0, no_edge,
             {0.0f, 0.0f, batch_.values[static_cast<size_t>(b)], logits_.data()});
  OpenNode(node, tree_.padded_actions());
  MakeReady(node, num_actions, puct ? kNoPrior : 0.0f);
  for (int a = 0; a < num_actions; ++a) {
    if (!root.legal_action_mask[static_cast<size_t>(a)]) node.prior[a] = puct ? kNoPrior : 0.0f;
  }
  if (puct) {
    if (request.add_noise) AddDirichletNoise(b, root, request);
    return;
  }
  float* root_logits = tree_.root_logits(b);
  std::fill_n(root_logits, tree_.padded_actions(), -kInfinity);
  for (int a = 0; a < num_actions; ++a) root_logits[a] = logits_[static_cast<size_t>(a)] - peak;
  SetGumbelNoise(b, root, request);
}

void Search::AddDirichletNoise(int b, const Root& root, const SearchRequest& request) {
  RandomStream stream = NoiseStream(request, root);
  const auto noise = absl::MakeSpan(noise_).first(static_cast<size_t>(tree_.root(b).num_legal));
  stream.Dirichlet(config_.root_noise_alpha, noise);
  float* prior = tree_.At(b, 0).prior;
  size_t next = 0;
  for (size_t a = 0; a < root.legal_action_mask.size(); ++a) {
    if (!root.legal_action_mask[a]) continue;
    prior[a] = static_cast<float>((1.0 - config_.root_noise_fraction) * prior[a] +
                                  config_.root_noise_fraction * noise[next++]);
  }
}

void Search::SetGumbelNoise(int b, const Root& root, const SearchRequest& request) {
  const size_t num_actions = static_cast<size_t>(tree_.num_actions());
  float* gumbel = tree_.root_gumbel(b);
  std::fill_n(gumbel, tree_.padded_actions(), 0.0f);
  if (!request.root_gumbel.empty()) {
    const auto given =
        request.root_gumbel.subspan(static_cast<size_t>(b) * num_actions, num_actions);
    std::copy(given.begin(), given.end(), gumbel);
  } else if (request.add_noise) {
    RandomStream stream = NoiseStream(request, root);
    for (size_t a = 0; a < num_actions; ++a) {
      gumbel[a] = static_cast<float>(config_.gumbel_scale * stream.Gumbel());
    }
  }
}

absl::Status Search::Finish(absl::Span<const Root> roots, const SearchRequest& request,
                            SearchResult* result) {
  const size_t num_roots = roots.size();
  const size_t num_actions = static_cast<size_t>(tree_.num_actions());
  result->num_roots = static_cast<int>(num_roots);
  result->num_actions = tree_.num_actions();
  result->visit_counts.resize(num_roots * num_actions);
  result->root_values.resize(num_roots);
  result->network_values.resize(num_roots);
  result->action_weights.resize(num_roots * num_actions);
  result->best_actions.resize(num_roots);
  result->q_values.resize(num_roots * num_actions);
  result->mean_depth = 0.0;
  for (size_t i = 0; i < num_roots; ++i) {
    const int b = static_cast<int>(i);
    const Node node = tree_.At(b, 0);
    result->root_values[i] = static_cast<float>(node.record->MeanValue());
    result->network_values[i] = node.record->value;
    if (!std::isfinite(result->root_values[i])) {
      return absl::InternalError(absl::StrCat(
          "the root value of environment ", roots[i].env.value, " is ", result->root_values[i],
          " after the search: the model's rewards, discounts or values are too large"));
    }
    std::copy_n(node.visits, num_actions, result->visit_counts.begin() + i * num_actions);
    std::copy_n(node.q, num_actions, result->q_values.begin() + i * num_actions);
    if (rules_.policy == SearchPolicy::kPuct) {
      FinishPuctRoot(b, request, result);
    } else {
      FinishGumbelRoot(b, request, result);
    }
  }
  if (num_roots > 0) {
    result->mean_depth =
        static_cast<double>(depth_sum_) / (static_cast<double>(num_roots) * rules_.num_simulations);
  }
  return absl::OkStatus();
}

void Search::FinishPuctRoot(int b, const SearchRequest& request, SearchResult* result) {
  const SelectContext context = ContextOf(b, request);
  const Node node = tree_.At(b, 0);
  float* weights = result->action_weights.data() + int64_t{b} * context.num_actions;
  FirstMaximum maximum;
  for (int a = 0; a < context.padded_actions; a += kLanes) {
    const Float4 visits = ToFloat(LoadInt(node.visits + a));
    Store(visits, context.scores + a);
    maximum.Add(visits, a);
  }
  for (int a = 0; a < context.num_actions; ++a) {
    weights[a] = static_cast<float>(static_cast<double>(node.visits[a]) / rules_.num_simulations);
  }
  result->best_actions[static_cast<size_t>(b)] =
      request.deterministic_ties
          ? maximum.index()
          : BreakTie(context.scores, context.num_actions, maximum.best(), context.root->tie_key,
                     tree_.num_nodes(), node.record->visits);
}

void Search::FinishGumbelRoot(int b, const SearchRequest& request, SearchResult* result) {
  const SelectContext context = ContextOf(b, request);
  const Node node = tree_.At(b, 0);
  const float* logits = tree_.root_logits(b);
  const ChildStats stats = ComputeChildStats(node, context.padded_actions);
  const ValueScale scale = GumbelValueScale(context, *node.record, stats);
  result->best_actions[static_cast<size_t>(b)] =
      SelectGumbelRoot(context, node, logits, tree_.root_gumbel(b), stats.max_visits);

  // Improved policy: softmax(logits + q transform) over legal actions; illegal logits are -inf.
  float* weights = result->action_weights.data() + int64_t{b} * context.num_actions;
  double peak = -kInfinity;
  for (int a = 0; a < context.num_actions; ++a) {
    const float value = node.visits[a] > 0 ? scale.Visited(node.q[a]) : scale.unvisited;
    weights[a] = logits[a] + value;
    peak = std::max(peak, static_cast<double>(weights[a]));
  }
  double sum = 0.0;
  for (int a = 0; a < context.num_actions; ++a) sum += std::exp(weights[a] - peak);
  for (int a = 0; a < context.num_actions; ++a) {
    weights[a] = static_cast<float>(std::exp(weights[a] - peak) / sum);
  }
}

}  // namespace lzero
