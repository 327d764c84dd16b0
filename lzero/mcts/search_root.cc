// The root of a search: legal actions and noise before it, results after it.
#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/rng.h"
#include "lzero/mcts/search.h"
#include "lzero/mcts/tie_key.h"

namespace lzero {

namespace {

RandomStream NoiseStream(const SearchRequest& request, const Root& root) {
  const uint64_t env = static_cast<uint64_t>(static_cast<uint32_t>(root.env.value));
  return RandomStream(StreamKey(request.seed, "root noise", request.search_index), "environment",
                      env);
}

}  // namespace

void Search::PrepareRoot(int b, const Root& root, const SearchRequest& request) {
  const size_t i = static_cast<size_t>(b);
  const RootStart start = {
      root.env.value, TieKey(request.seed, request.search_index, root.env.value), batch_.values[i],
      batch_.prior_logits.data() + i * root.legal_action_mask.size(),
      root.legal_action_mask.data()};
  BeginTree(tree_.view(), rules_, b, start);
  if (rules_.policy == SearchPolicy::kGumbel) {
    SetGumbelNoise(b, root, request);
  } else if (request.add_noise) {
    AddDirichletNoise(b, root, request);
  }
}

void Search::AddDirichletNoise(int b, const Root& root, const SearchRequest& request) {
  RandomStream stream = NoiseStream(request, root);
  const auto noise = absl::MakeSpan(noise_).first(static_cast<size_t>(tree_.root(b).num_legal));
  stream.Dirichlet(config_.root_noise_alpha, noise);
  MixRootNoise(tree_.view(), rules_, b, root.legal_action_mask.data(), noise.data());
}

void Search::SetGumbelNoise(int b, const Root& root, const SearchRequest& request) {
  const size_t num_actions = static_cast<size_t>(tree_.num_actions());
  float* gumbel = tree_.view().root_gumbel(b);
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
    FinishTree(tree_.view(), b, ContextOf(b, request), ResultsOf(b, result));
    if (!std::isfinite(result->root_values[i])) {
      return absl::InternalError(absl::StrCat(
          "the root value of environment ", roots[i].env.value, " is ", result->root_values[i],
          " after the search: the model's rewards, discounts or values are too large"));
    }
  }
  if (num_roots > 0) {
    result->mean_depth =
        static_cast<double>(depth_sum_) / (static_cast<double>(num_roots) * rules_.num_simulations);
  }
  return absl::OkStatus();
}

RootResults Search::ResultsOf(int b, SearchResult* result) const {
  const int64_t first = int64_t{b} * tree_.num_actions();
  return {result->visit_counts.data() + first,   result->q_values.data() + first,
          result->action_weights.data() + first, result->root_values.data() + b,
          result->network_values.data() + b,     result->best_actions.data() + b};
}

}  // namespace lzero
