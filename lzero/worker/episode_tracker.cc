#include "lzero/worker/episode_tracker.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {

EpisodeTracker::EpisodeTracker(int64_t max_past, int64_t observation_size, int64_t action_dim)
    : max_past_(max_past), observation_size_(observation_size), action_dim_(action_dim) {
  observations_.reserve((max_past + 1) * observation_size);
  actions_.reserve(max_past);
  action_values_.reserve(max_past * action_dim);
}

void EpisodeTracker::Begin(absl::Span<const float> observation) {
  LZ_CHECK(static_cast<int64_t>(observation.size()) == observation_size_, observation.size());
  step_ = 0;
  observations_.assign(observation.begin(), observation.end());
  actions_.clear();
  action_values_.clear();
}

void EpisodeTracker::Add(int32_t action, absl::Span<const float> action_values,
                         absl::Span<const float> observation) {
  LZ_CHECK(static_cast<int64_t>(action_values.size()) == action_dim_, action_values.size());
  LZ_CHECK(static_cast<int64_t>(observation.size()) == observation_size_, observation.size());
  ++step_;
  actions_.push_back(action);
  action_values_.insert(action_values_.end(), action_values.begin(), action_values.end());
  if (static_cast<int64_t>(actions_.size()) > max_past_) {
    actions_.erase(actions_.begin());
    action_values_.erase(action_values_.begin(), action_values_.begin() + action_dim_);
    observations_.erase(observations_.begin(), observations_.begin() + observation_size_);
  }
  observations_.insert(observations_.end(), observation.begin(), observation.end());
}

Root EpisodeTracker::MakeRoot(EnvId env, const TimeStep& time_step) const {
  return {.env = env,
          .observations = observations_,
          .actions = actions_,
          .action_values = action_values_,
          .step = step_,
          .to_play = time_step.to_play,
          .legal_action_mask = time_step.legal_action_mask,
          .state = time_step.state};
}

void EpisodeTracker::Export(const std::string& prefix, std::vector<NamedArray>* arrays) const {
  arrays->push_back(MakeNamedArray<int64_t>(prefix + "step", {step_}));
  arrays->push_back(MakeNamedArray<float>(prefix + "observations", observations_));
  arrays->push_back(MakeNamedArray<int32_t>(prefix + "actions", actions_));
  if (action_dim_ == 0) return;
  arrays->push_back(MakeNamedArray<float>(prefix + "action_values", action_values_));
}

absl::Status EpisodeTracker::Import(const std::string& prefix,
                                    absl::Span<const NamedArray> arrays) {
  // Read.
  LZ_ASSIGN_OR_RETURN(const auto step, ReadArray<int64_t>(arrays, prefix + "step"));
  LZ_ASSIGN_OR_RETURN(auto observations, ReadArray<float>(arrays, prefix + "observations"));
  LZ_ASSIGN_OR_RETURN(auto actions, ReadArray<int32_t>(arrays, prefix + "actions"));
  std::vector<float> action_values;
  if (action_dim_ > 0) {
    LZ_ASSIGN_OR_RETURN(action_values, ReadArray<float>(arrays, prefix + "action_values"));
  }
  // Check the sizes against each other.
  if (step.size() != 1 || step[0] < static_cast<int64_t>(actions.size()) ||
      action_values.size() != actions.size() * static_cast<size_t>(action_dim_) ||
      static_cast<int64_t>(observations.size()) !=
          (static_cast<int64_t>(actions.size()) + 1) * observation_size_) {
    return absl::InvalidArgumentError(
        absl::StrCat("the past of ", prefix, " does not fit: ", actions.size(), " actions, ",
                     observations.size(), " observation values of ", observation_size_, " each"));
  }
  // Keep the newest steps of a longer past, as Add does.
  const int64_t excess = std::max<int64_t>(0, static_cast<int64_t>(actions.size()) - max_past_);
  observations.erase(observations.begin(), observations.begin() + excess * observation_size_);
  actions.erase(actions.begin(), actions.begin() + excess);
  action_values.erase(action_values.begin(), action_values.begin() + excess * action_dim_);
  step_ = step[0];
  observations_ = std::move(observations);
  actions_ = std::move(actions);
  action_values_ = std::move(action_values);
  return absl::OkStatus();
}

absl::Status FillRootStates(const InferenceModel& model, VectorEnv& envs, absl::Span<Root> roots,
                            std::vector<std::string>* states) {
  if (!model.NeedsState()) return absl::OkStatus();
  states->resize(roots.size());
  for (size_t i = 0; i < roots.size(); ++i) {
    absl::StatusOr<std::string> state = envs.env(roots[i].env).Save();
    if (!state.ok()) {
      return Annotate(state.status(), absl::StrCat("environment ", roots[i].env.value));
    }
    roots[i].state = (*states)[i] = *std::move(state);
  }
  return absl::OkStatus();
}

}  // namespace lzero
