#include "lzero/mcts/search_request.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "lzero/base/status_macros.h"

namespace lzero {

void SearchResult::Resize(size_t roots, size_t actions) {
  num_roots = static_cast<int>(roots);
  num_actions = static_cast<int>(actions);
  visit_counts.resize(roots * actions);
  root_values.resize(roots);
  network_values.resize(roots);
  action_weights.resize(roots * actions);
  best_actions.resize(roots);
  q_values.resize(roots * actions);
}

absl::Status CheckBatch(absl::Span<const Root> roots, const SearchRequest& request, int num_actions,
                        int max_roots, std::vector<int32_t>* envs) {
  const size_t width = static_cast<size_t>(num_actions);
  if (roots.size() > static_cast<size_t>(max_roots)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a search of ", roots.size(), " roots, made for at most ", max_roots));
  }
  const size_t num_noise = request.root_gumbel.size();
  if (num_noise != 0 && num_noise != roots.size() * width) {
    return absl::InvalidArgumentError(
        absl::StrCat("root_gumbel has ", num_noise,
                     " numbers; allowed: 0, or roots * actions = ", roots.size() * width));
  }
  envs->clear();
  for (const Root& root : roots) envs->push_back(root.env.value);
  std::sort(envs->begin(), envs->end());
  const auto repeated = std::adjacent_find(envs->begin(), envs->end());
  if (repeated != envs->end()) {
    return absl::InvalidArgumentError(
        absl::StrCat("environment ", *repeated, " has two roots in one search"));
  }
  return absl::OkStatus();
}

absl::Status CheckRoots(absl::Span<const Root> roots, const SearchRequest& request, int num_actions,
                        int max_roots, std::vector<int32_t>* envs) {
  LZ_RETURN_IF_ERROR(CheckBatch(roots, request, num_actions, max_roots, envs));
  for (const Root& root : roots) {
    const auto& mask = root.legal_action_mask;
    if (mask.size() != static_cast<size_t>(num_actions)) {
      return absl::InvalidArgumentError(absl::StrCat("environment ", root.env.value,
                                                     ": legal action mask of ", mask.size(),
                                                     " entries for ", num_actions, " actions"));
    }
    if (std::all_of(mask.begin(), mask.end(), [](uint8_t legal) { return legal == 0; })) {
      return absl::InvalidArgumentError(
          absl::StrCat("environment ", root.env.value, ", step ", root.step,
                       ": no legal action at the root of a search; the environment must end the "
                       "episode or offer an action"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRootValues(absl::Span<const Root> roots, const SearchResult& result) {
  for (size_t b = 0; b < roots.size(); ++b) {
    if (std::isfinite(result.root_values[b])) continue;
    return absl::InternalError(absl::StrCat(
        "the root value of environment ", roots[b].env.value, " is ", result.root_values[b],
        " after the search: the model's rewards, discounts or values are too large"));
  }
  return absl::OkStatus();
}

}  // namespace lzero
