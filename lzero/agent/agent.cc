#include "lzero/agent/agent.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "lzero/agent/action_selection.h"
#include "lzero/base/status_macros.h"

namespace lzero {

Agent::Agent(std::unique_ptr<Searcher> searcher, const AgentOptions& options)
    : searcher_(std::move(searcher)),
      options_(options),
      weights_(static_cast<size_t>(searcher_->num_actions())) {}

void Agent::set_cheap_searcher(std::unique_ptr<Searcher> searcher) {
  cheap_searcher_ = std::move(searcher);
}

bool Agent::IsNextCheap() const {
  if (cheap_searcher_ == nullptr) return false;
  RandomStream stream(StreamKey(options_.seed, "cheap search", num_searches_), "share");
  return stream.Uniform() < config().cheap_fraction;
}

absl::Status Agent::Act(InferenceModel& model, absl::Span<const Root> roots, ActMode mode,
                        int64_t env_steps, Decision* decision) {
  // Search.
  SearchRequest request;
  const bool is_cheap = mode == ActMode::kCollect && IsNextCheap();
  request.add_noise = mode == ActMode::kCollect && !is_cheap;
  request.deterministic_ties = options_.deterministic_ties;
  request.seed = options_.seed;
  request.search_index = num_searches_;
  const SearchConfig& config = searcher_->config();
  const double temperature = TemperatureAt(config, env_steps);
  request.gumbel_factor = temperature;
  Searcher& searcher = is_cheap ? *cheap_searcher_ : *searcher_;
  LZ_RETURN_IF_ERROR(searcher.Run(model, roots, request, &decision->search));

  // Choose an action for each root.
  const bool draws = mode == ActMode::kCollect && config.policy == SearchPolicy::kPuct;
  decision->temperature = draws ? temperature : 0.0;
  Choose(roots, request, decision);
  if (config.policy_target == PolicyTarget::kBestAction) KeepBestActions(&decision->search);
  // Translate slots into actions and policies of the environment.
  decision->action_dim = 0;
  decision->action_values.clear();
  decision->sampled_actions.clear();
  const SampledActions* sampled = model.sampled_actions();
  if (sampled != nullptr && !roots.empty()) {
    if (sampled->action_dim > 0) {
      TranslateValues(*sampled, decision);
    } else {
      LZ_RETURN_IF_ERROR(TranslateIndices(*sampled, roots, decision));
    }
  } else {
    decision->policy_size = decision->search.num_actions;
    decision->policies = decision->search.action_weights;
  }
  if (is_cheap) absl::c_fill(decision->policies, 0.0f);
  ++num_searches_;
  return absl::OkStatus();
}

void Agent::KeepBestActions(SearchResult* search) {
  absl::c_fill(search->action_weights, 0.0f);
  for (size_t b = 0; b < search->best_actions.size(); ++b) {
    const size_t best = static_cast<size_t>(search->best_actions[b]);
    search->action_weights[b * static_cast<size_t>(search->num_actions) + best] = 1.0f;
  }
}

void Agent::Choose(absl::Span<const Root> roots, const SearchRequest& request, Decision* decision) {
  decision->actions = decision->search.best_actions;
  if (decision->temperature <= 0.0) return;
  const uint64_t key = StreamKey(request.seed, "action", request.search_index);
  const size_t num_actions = weights_.size();
  const int64_t last_step = config().temperature_steps;
  for (size_t b = 0; b < roots.size(); ++b) {
    if (last_step > 0 && roots[b].step >= last_step) continue;
    RandomStream stream(key, "environment",
                        static_cast<uint64_t>(static_cast<uint32_t>(roots[b].env.value)));
    const auto visits =
        absl::MakeConstSpan(decision->search.visit_counts).subspan(b * num_actions, num_actions);
    decision->actions[b] =
        DrawAction(visits, decision->temperature, &stream, absl::MakeSpan(weights_));
  }
}

absl::Status Agent::TranslateIndices(const SampledActions& sampled, absl::Span<const Root> roots,
                                     Decision* decision) const {
  const size_t num_slots = weights_.size();
  const size_t policy_size = static_cast<size_t>(options_.num_env_actions);
  decision->policy_size = options_.num_env_actions;
  decision->policies.assign(roots.size() * policy_size, 0.0f);
  for (size_t slot = 0; slot < sampled.indices.size(); ++slot) {
    if (sampled.slot_mask[slot] == 0) continue;
    const size_t b = slot / num_slots;
    const int32_t index = sampled.indices[slot];
    if (index >= options_.num_env_actions) {
      return absl::InternalError(absl::StrCat(
          "environment ", roots[b].env.value, ": the model sampled action ", index,
          "; the environment has ", options_.num_env_actions, " (AgentOptions::num_env_actions)"));
    }
    decision->policies[b * policy_size + static_cast<size_t>(index)] +=
        decision->search.action_weights[slot];
  }
  for (size_t b = 0; b < roots.size(); ++b) {
    const size_t slot = static_cast<size_t>(decision->actions[b]);
    decision->actions[b] = sampled.indices[b * num_slots + slot];
  }
  return absl::OkStatus();
}

void Agent::TranslateValues(const SampledActions& sampled, Decision* decision) const {
  const size_t num_slots = weights_.size();
  const size_t dim = static_cast<size_t>(sampled.action_dim);
  decision->action_dim = sampled.action_dim;
  decision->policy_size = sampled.num_slots;
  decision->policies = decision->search.action_weights;
  decision->sampled_actions = sampled.values;
  for (size_t i = 0; i < decision->sampled_actions.size(); ++i) {
    if (sampled.slot_mask[i / dim] == 0) decision->sampled_actions[i] = 0.0f;
  }
  decision->action_values.resize(decision->actions.size() * dim);
  auto values = decision->action_values.begin();
  for (size_t b = 0; b < decision->actions.size(); ++b) {
    const size_t slot = b * num_slots + static_cast<size_t>(decision->actions[b]);
    values = std::copy_n(sampled.values.begin() + static_cast<ptrdiff_t>(slot * dim), dim, values);
  }
}

}  // namespace lzero
