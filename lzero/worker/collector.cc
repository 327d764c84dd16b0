#include "lzero/worker/collector.h"

#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/rng.h"
#include "lzero/base/status_macros.h"
#include "lzero/env/env.h"

namespace lzero {

Collector::Collector(const CollectorOptions& options, std::unique_ptr<VectorEnv> envs,
                     std::unique_ptr<Agent> agent, InferenceModel* model)
    : options_(options),
      envs_(std::move(envs)),
      agent_(std::move(agent)),
      model_(model),
      values_(envs_->num_envs()),
      episode_counts_(envs_->num_envs(), 0),
      bonus_(options.count_bonus, options.count_bonus_once, envs_->num_envs()),
      taken_(envs_->num_envs()),
      actions_(envs_->num_envs()) {
  for (int i = 0; i < envs_->num_envs(); ++i) {
    ids_.push_back(EnvId(i));
    trackers_.emplace_back(options.max_past_steps, envs_->spec().observation.size(),
                           envs_->spec().action.dim());
    explorations_.emplace_back(agent_->config(), envs_->spec().action,
                               StreamKey(options.seed, "exploration"));
  }
}

uint64_t Collector::EpisodeIndex(EnvId env) const {
  return static_cast<uint64_t>(env.value) << 40 |
         static_cast<uint64_t>(episode_counts_[env.value] - 1);
}

void Collector::BeginEpisode(EnvId env) {
  ++episode_counts_[env.value];
  const uint64_t index = EpisodeIndex(env);
  envs_->Reset(env, StreamKey(options_.seed, "collector_episode", index));
  explorations_[env.value].Begin(index);
  const TimeStep& first = envs_->last(env);
  trackers_[env.value].Begin(first.observation);
  values_[env.value].Begin();
  bonus_.Begin(env, first.observation);
  staged_.Begin(env, first);
  model_->EndEpisode(env);
}

absl::Status Collector::Step(int64_t env_steps) {
  if (!started_) {
    for (const EnvId id : ids_) BeginEpisode(id);
    started_ = true;
  }
  // Roots of all environments.
  roots_.clear();
  for (const EnvId id : ids_) {
    roots_.push_back(trackers_[id.value].MakeRoot(id, envs_->last(id)));
  }
  // One batched search.
  {
    const ScopedTimer timer(&search_time_);
    LZ_RETURN_IF_ERROR(FillRootStates(*model_, *envs_, absl::MakeSpan(roots_), &states_));
    LZ_RETURN_IF_ERROR(agent_->Act(*model_, roots_, ActMode::kCollect, env_steps, &decision_));
  }
  RecordSearch(decision_);
  // Choose and play the actions.
  ChooseActions(env_steps);
  {
    const ScopedTimer timer(&env_time_);
    LZ_RETURN_IF_ERROR(envs_->Step(ids_, actions_));
  }
  // Stage the transitions; episodes that ended begin again.
  for (size_t i = 0; i < ids_.size(); ++i) {
    const EnvId id = ids_[i];
    const TimeStep& next = envs_->last(id);
    if (next.interrupted) {
      // What the last action led to is unknown: the steps before it stay, as an abandoned episode.
      ++stats_.num_interrupted;
      BeginEpisode(id);
      continue;
    }
    const double bonus = bonus_.Add(id, next.observation);
    stats_.bonus_sum += bonus;
    const float reward = next.reward + static_cast<float>(bonus);
    staged_.Add(id, TransitionOf(i, next, reward));
    trackers_[i].Add(taken_[i].index, taken_[i].values, next.observation);
    values_[i].Add(decision_.search.root_values[i], reward, roots_[i].to_play);
    if (next.ended()) {
      RecordEpisode(id);
      BeginEpisode(id);
    }
  }
  return absl::OkStatus();
}

Transition Collector::TransitionOf(size_t i, const TimeStep& next, float reward) const {
  return {.action = taken_[i].index,
          .reward = reward,
          .policy = decision_.PolicyOf(i),
          .root_value = decision_.search.root_values[i],
          .observation = next.observation,
          .legal_action_mask = next.legal_action_mask,
          .to_play = next.to_play,
          .terminated = next.terminated,
          .truncated = next.truncated,
          .chance_outcome = next.chance_outcome,
          .action_values = taken_[i].values,
          .sampled_actions = decision_.SampledOf(i),
          .network_value = decision_.search.network_values[i]};
}

void Collector::ChooseActions(int64_t env_steps) {
  const double epsilon = EpsilonAt(agent_->config(), env_steps);
  for (size_t i = 0; i < ids_.size(); ++i) {
    if (explorations_[i].Act(epsilon, trackers_[i].step(), roots_[i].legal_action_mask,
                             &taken_[i])) {
      ++stats_.num_explored;
    } else {
      taken_[i].index = decision_.actions[i];
      taken_[i].values.assign(decision_.ValuesOf(i).begin(), decision_.ValuesOf(i).end());
    }
    MakeAction(envs_->spec().action, taken_[i].index, taken_[i].values, &actions_[i]);
  }
}

void Collector::RecordSearch(const Decision& decision) {
  const SearchResult& result = decision.search;
  for (int i = 0; i < result.num_roots; ++i) {
    stats_.root_value_sum += result.root_values[i];
    for (int a = 0; a < decision.policy_size; ++a) {
      const double share = decision.policies[i * decision.policy_size + a];
      if (share > 0.0) stats_.policy_entropy_sum -= share * std::log(share);
    }
  }
  stats_.depth_sum += result.mean_depth * result.num_roots;
  stats_.num_searches += result.num_roots;
}

void Collector::RecordEpisode(EnvId env) {
  const TimeStep& last = envs_->last(env);
  const int64_t length = trackers_[env.value].step();
  stats_.episodes.push_back({last.episode_return, length});
  const EpisodeValues& values = values_[env.value];
  // An episode that went on from an old checkpoint has lost its first values.
  if (values.num_steps() != length) return;
  stats_.values += values.Compare(options_.discount, last.terminated);
}

CollectStats Collector::TakeStats() { return std::exchange(stats_, {}); }

absl::StatusOr<std::vector<NamedArray>> Collector::Export() const {
  LZ_CHECK(staged_.num_steps() == 0, staged_.num_steps(), " staged steps");
  std::vector<NamedArray> arrays;
  arrays.push_back(MakeNamedArray<int64_t>(
      "counters", {static_cast<int64_t>(agent_->num_searches()), started_ ? 1 : 0}));
  arrays.push_back(MakeNamedArray<int64_t>("episode_counts", episode_counts_));
  if (!started_) return arrays;
  bonus_.Export(&arrays);
  for (const EnvId id : ids_) {
    const std::string prefix = absl::StrCat("env", id.value, ".");
    trackers_[id.value].Export(prefix, &arrays);
    values_[id.value].Export(prefix, &arrays);
    explorations_[id.value].Export(prefix, &arrays);
    if (!envs_->spec().can_save) continue;
    LZ_ASSIGN_OR_RETURN(const std::string state, envs_->Save(id));
    arrays.push_back(
        NamedArray{prefix + "state", ArrayType::kU8, {static_cast<int64_t>(state.size())}, state});
  }
  return arrays;
}

absl::StatusOr<int> Collector::Import(absl::Span<const NamedArray> arrays) {
  // Counters.
  LZ_ASSIGN_OR_RETURN(const auto counters, ReadArray<int64_t>(arrays, "counters"));
  LZ_ASSIGN_OR_RETURN(const auto episodes, ReadArray<int64_t>(arrays, "episode_counts"));
  if (counters.size() != 2 || episodes.size() != episode_counts_.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the collector's state holds ", episodes.size(), " environments, the config ",
                     "says env.num_collectors: ", episode_counts_.size()));
  }
  staged_.Clear();
  agent_->set_num_searches(static_cast<uint64_t>(counters[0]));
  episode_counts_ = episodes;
  started_ = counters[1] != 0;
  LZ_RETURN_IF_ERROR(bonus_.Import(arrays));
  if (!started_) return 0;  // every environment begins an episode at the next step
  // Environments, each with its tracker, values and exploration.
  int restarted = 0;
  for (const EnvId id : ids_) {
    const std::string prefix = absl::StrCat("env", id.value, ".");
    const NamedArray* state = FindArray(arrays, prefix + "state");
    if (state == nullptr) {
      BeginEpisode(id);
      ++restarted;
      continue;
    }
    LZ_RETURN_IF_ERROR(
        Annotate(envs_->Load(id, state->bytes), absl::StrCat("environment ", id.value)));
    LZ_RETURN_IF_ERROR(trackers_[id.value].Import(prefix, arrays));
    LZ_RETURN_IF_ERROR(values_[id.value].Import(prefix, arrays));
    explorations_[id.value].Begin(EpisodeIndex(id));
    LZ_RETURN_IF_ERROR(explorations_[id.value].Import(prefix, arrays));
    model_->EndEpisode(id);
  }
  return restarted;
}

}  // namespace lzero
