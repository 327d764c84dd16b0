#include "lzero/agent/agent.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/agent/action_selection.h"
#include "lzero/base/status_macros.h"

namespace lzero {

absl::StatusOr<std::unique_ptr<Agent>> Agent::Create(const SearchConfig& config, int num_actions,
                                                     int max_roots, const AgentOptions& options) {
  // Written so that a NaN is refused too.
  if (!(config.temperature >= 0.0 && config.temperature_final >= 0.0)) {
    return absl::InvalidArgumentError(absl::StrCat(
        "search.temperature is ", config.temperature, " and search.temperature_final is ",
        config.temperature_final, "; allowed: 0 or more (0 takes the best action)"));
  }
  LZ_ASSIGN_OR_RETURN(auto search, Search::Create(config, num_actions, max_roots));
  return std::unique_ptr<Agent>(new Agent(std::move(search), num_actions, options));
}

Agent::Agent(std::unique_ptr<Search> search, int num_actions, const AgentOptions& options)
    : search_(std::move(search)), options_(options), weights_(static_cast<size_t>(num_actions)) {}

absl::Status Agent::Act(InferenceModel& model, absl::Span<const Root> roots, ActMode mode,
                        int64_t env_steps, Decision* decision) {
  SearchRequest request;
  request.add_noise = mode == ActMode::kCollect;
  request.deterministic_ties = options_.deterministic_ties;
  request.seed = options_.seed;
  request.search_index = num_searches_;
  LZ_RETURN_IF_ERROR(search_->Run(model, roots, request, &decision->search));
  ++num_searches_;

  const SearchConfig& config = search_->config();
  const bool draws = mode == ActMode::kCollect && config.policy == SearchPolicy::kPuct;
  decision->temperature = draws ? TemperatureAt(config, env_steps) : 0.0;
  decision->actions = decision->search.best_actions;
  if (decision->temperature <= 0.0) return absl::OkStatus();
  const uint64_t key = StreamKey(request.seed, "action", request.search_index);
  const size_t num_actions = weights_.size();
  for (size_t b = 0; b < roots.size(); ++b) {
    RandomStream stream(key, "environment",
                        static_cast<uint64_t>(static_cast<uint32_t>(roots[b].env.value)));
    const auto visits =
        absl::MakeConstSpan(decision->search.visit_counts).subspan(b * num_actions, num_actions);
    decision->actions[b] =
        DrawAction(visits, decision->temperature, &stream, absl::MakeSpan(weights_));
  }
  return absl::OkStatus();
}

}  // namespace lzero
