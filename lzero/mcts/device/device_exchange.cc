#include "lzero/mcts/device/device_exchange.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"
#include "lzero/mcts/root_noise.h"
#include "lzero/mcts/tie_key.h"

namespace lzero {

void FillDeviceInputs(const SearchConfig& config, absl::Span<const Root> roots,
                      const SearchRequest& request, const DeviceInputs& inputs) {
  const bool has_noise = HasRootNoise(config, request);
  *inputs.switches = {static_cast<int32_t>(roots.size()), has_noise, request.deterministic_ties};
  for (size_t b = 0; b < roots.size(); ++b) {
    const auto& legal = roots[b].legal_action_mask;
    inputs.envs[b] = roots[b].env.value;
    inputs.tie_keys[b] = TieKey(request.seed, request.search_index, roots[b].env.value);
    std::copy(legal.begin(), legal.end(), inputs.legal + b * legal.size());
    if (has_noise) {
      ComputeRootNoise(config, request, roots[b].env, static_cast<int>(b), legal,
                       absl::MakeSpan(inputs.noise + b * legal.size(), legal.size()));
    }
  }
}

absl::Status ReadDeviceResults(const SearchConfig& config, absl::Span<const Root> roots,
                               const DeviceResults& results, SearchResult* result) {
  const size_t num_roots = roots.size();
  const size_t num_actions = num_roots == 0 ? 0 : roots[0].legal_action_mask.size();
  const size_t num_entries = num_roots * num_actions;
  result->Resize(num_roots, num_actions);
  result->mean_depth = 0.0;
  int64_t depth_sum = 0;
  for (size_t b = 0; b < num_roots; ++b) {
    if (results.not_finite_at[b] >= 0) {
      return absl::InternalError(
          absl::StrCat("the model returned a number that is not finite for environment ",
                       roots[b].env.value, ", node ", results.not_finite_at[b],
                       "; only finite numbers can be searched, and prior logits of -inf where "
                       "actions are not there, one action at least being there"));
    }
    depth_sum += results.depth_sums[b];
  }
  std::copy_n(results.visit_counts, num_entries, result->visit_counts.begin());
  std::copy_n(results.q_values, num_entries, result->q_values.begin());
  std::copy_n(results.action_weights, num_entries, result->action_weights.begin());
  std::copy_n(results.root_values, num_roots, result->root_values.begin());
  std::copy_n(results.network_values, num_roots, result->network_values.begin());
  std::copy_n(results.best_actions, num_roots, result->best_actions.begin());
  LZ_RETURN_IF_ERROR(CheckRootValues(roots, *result));
  if (num_roots > 0) {
    result->mean_depth =
        static_cast<double>(depth_sum) /
        (static_cast<double>(num_roots) * static_cast<double>(config.num_simulations));
  }
  return absl::OkStatus();
}

}  // namespace lzero
