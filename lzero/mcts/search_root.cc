// The root of a search: legal actions and noise before it, results after it.
#include "lzero/base/status_macros.h"
#include "lzero/mcts/root_noise.h"
#include "lzero/mcts/search.h"
#include "lzero/mcts/tie_key.h"

namespace lzero {

void Search::PrepareRoot(int b, const Root& root, const SearchRequest& request) {
  const size_t i = static_cast<size_t>(b);
  const size_t width = static_cast<size_t>(tree_.num_actions());
  const size_t num_actions = static_cast<size_t>(num_actions_);
  const auto legal = absl::MakeConstSpan(batch_.legal).subspan(i * width, width);
  const bool has_noise = HasRootNoise(config_, request);
  if (has_noise) {
    ComputeRootNoise(config_, request, root.env, b, legal.first(num_actions),
                     absl::MakeSpan(noise_).first(num_actions));
  }
  BeginTree(tree_.view(), rules_, b,
            {root.env.value, TieKey(request.seed, request.search_index, root.env.value),
             batch_.values[i], batch_.prior_logits.data() + i * width, legal.data(),
             has_noise ? noise_.data() : nullptr, num_actions_});
}

RootResults Search::ResultsOf(int b, SearchResult* result) const {
  const int64_t first = int64_t{b} * num_actions_;
  return {result->visit_counts.data() + first,   result->q_values.data() + first,
          result->action_weights.data() + first, result->root_values.data() + b,
          result->network_values.data() + b,     result->best_actions.data() + b};
}

absl::Status Search::Finish(absl::Span<const Root> roots, const SearchRequest& request,
                            SearchResult* result) {
  const size_t num_roots = roots.size();
  result->Resize(num_roots, static_cast<size_t>(num_actions_));
  result->mean_depth = 0.0;
  for (int b = 0; b < result->num_roots; ++b) {
    FinishTree(tree_.view(), b, ContextOf(b, request), ResultsOf(b, result));
  }
  LZ_RETURN_IF_ERROR(CheckRootValues(roots, *result));
  if (num_roots > 0) {
    result->mean_depth =
        static_cast<double>(depth_sum_) / (static_cast<double>(num_roots) * rules_.num_simulations);
  }
  return absl::OkStatus();
}

}  // namespace lzero
