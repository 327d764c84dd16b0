#include "lzero/worker/evaluator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/log.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/stopwatch.h"
#include "lzero/env/env.h"
#include "lzero/mcts/search_request.h"

namespace lzero {
Evaluator::Evaluator(int64_t max_past_steps, double discount, std::unique_ptr<VectorEnv> envs,
                     std::unique_ptr<Agent> agent, InferenceModel* model)
    : max_past_steps_(max_past_steps),
      discount_(discount),
      envs_(std::move(envs)),
      agent_(std::move(agent)),
      model_(model) {}

absl::StatusOr<std::vector<EvaluatedEpisode>> Evaluator::Run(
    absl::Span<const uint64_t> seeds, const std::function<void(Env&, const TimeStep&)>& on_step,
    const std::function<bool()>& stop,
    const std::function<void(const EvaluatedEpisode&)>& on_episode) {
  agent_->set_num_searches(0);
  std::vector<EvaluatedEpisode> episodes(seeds.size());
  const EpisodeTracker fresh(max_past_steps_, spec().observation.size(), spec().action.dim());
  std::vector<EpisodeTracker> trackers(envs_->num_envs(), fresh);
  std::vector<EpisodeValues> values(envs_->num_envs());
  std::vector<size_t> episode_of(envs_->num_envs());
  std::vector<EnvId> active;
  size_t next_episode = 0;  // an environment that is free takes it
  // Every environment begins an episode; an interrupted one is begun again.
  const auto begin = [&](EnvId id, size_t episode) {
    episode_of[id.value] = episode;
    envs_->Reset(id, seeds[episode]);
    trackers[id.value].Begin(envs_->last(id).observation);
    values[id.value].Begin();
    model_->EndEpisode(id);
    if (on_step && id.value == 0) on_step(envs_->env(id), envs_->last(id));
  };
  for (int i = 0; i < envs_->num_envs() && next_episode < seeds.size(); ++i) {
    active.push_back(EnvId(i));
    begin(active.back(), next_episode++);
  }
  // One step of every environment that still plays.
  std::vector<Root> roots;
  for (double told = MonotonicSeconds(); !active.empty();) {
    if (stop && stop()) return absl::CancelledError("evaluation interrupted");
    TellProgress(next_episode - active.size(), seeds.size(), trackers, &told);
    LZ_RETURN_IF_ERROR(PlayStep(active, trackers, &roots));
    std::vector<EnvId> still_active;  // those that go on, or take the next episode
    for (size_t i = 0; i < active.size(); ++i) {
      const EnvId id = active[i];
      const TimeStep& next = envs_->last(id);
      still_active.push_back(id);
      if (next.interrupted) {
        begin(id, episode_of[id.value]);
        continue;
      }
      trackers[id.value].Add(decision_.actions[i], decision_.ValuesOf(i), next.observation);
      values[id.value].Add(decision_.search.root_values[i], next.reward, roots[i].to_play);
      if (on_step && id.value == 0) on_step(envs_->env(id), next);
      if (next.ended()) {
        EvaluatedEpisode& episode = episodes[episode_of[id.value]];
        episode = {seeds[episode_of[id.value]], next.episode_return, trackers[id.value].step(),
                   next.terminated, next.truncated};
        episode.values = values[id.value].Compare(discount_, next.terminated, &episode.compared);
        if (on_episode) on_episode(episode);
        if (next_episode == seeds.size()) {
          still_active.pop_back();
        } else {
          begin(id, next_episode++);
        }
      }
    }
    active = std::move(still_active);
  }
  return episodes;
}

void Evaluator::TellProgress(size_t num_played, size_t num_episodes,
                             absl::Span<const EpisodeTracker> trackers, double* told) const {
  if (MonotonicSeconds() - *told <= quiet_seconds_) return;
  *told = MonotonicSeconds();
  int64_t longest = 0;
  for (const EpisodeTracker& tracker : trackers) longest = std::max(longest, tracker.step());
  LZ_LOG_INFO("evaluation: ", num_played, " of ", num_episodes,
              " episodes played, the longest under way at step ", longest,
              spec().max_episode_steps > 0
                  ? ""
                  : "; this environment sets no limit: env.max_episode_steps=N would end it");
}

absl::Status Evaluator::PlayStep(absl::Span<const EnvId> envs,
                                 absl::Span<const EpisodeTracker> trackers,
                                 std::vector<Root>* roots) {
  roots->clear();
  for (const EnvId id : envs) roots->push_back(trackers[id.value].MakeRoot(id, envs_->last(id)));
  LZ_RETURN_IF_ERROR(FillRootStates(*model_, *envs_, absl::MakeSpan(*roots), &states_));
  LZ_RETURN_IF_ERROR(agent_->Act(*model_, *roots, ActMode::kEvaluate, 0, &decision_));
  std::vector<Action> actions(envs.size());
  for (size_t i = 0; i < envs.size(); ++i) {
    MakeAction(spec().action, decision_.actions[i], decision_.ValuesOf(i), &actions[i]);
  }
  return envs_->Step(envs, actions);
}

std::vector<Root> Evaluator::MakeRoots(absl::Span<const TimeStep> positions) const {
  std::vector<Root> roots(positions.size());
  for (size_t i = 0; i < positions.size(); ++i) {
    roots[i].observations = positions[i].observation;
    roots[i].to_play = positions[i].to_play;
    roots[i].state = positions[i].state;
    roots[i].legal_action_mask = positions[i].legal_action_mask;
  }
  return roots;
}

absl::StatusOr<std::vector<int32_t>> Evaluator::ChooseActions(absl::Span<const TimeStep> positions,
                                                              bool with_search) {
  return ChooseRootActions(MakeRoots(positions), with_search);
}

template <typename Body>
absl::Status Evaluator::InBatches(std::vector<Root> roots, const Body& body) {
  const size_t batch = static_cast<size_t>(envs_->num_envs());
  for (size_t begin = 0; begin < roots.size(); begin += batch) {
    const auto part = absl::MakeSpan(roots).subspan(begin, batch);
    for (size_t i = 0; i < part.size(); ++i) {
      part[i].env = EnvId(static_cast<int64_t>(i));
      model_->EndEpisode(part[i].env);
    }
    LZ_RETURN_IF_ERROR(body(begin, absl::MakeConstSpan(part)));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<int32_t>> Evaluator::ChooseRootActions(absl::Span<const Root> roots,
                                                                  bool with_search) {
  agent_->set_num_searches(0);  // what is sampled follows from the place here, not from the past
  std::vector<int32_t> actions(roots.size());
  LZ_RETURN_IF_ERROR(
      InBatches({roots.begin(), roots.end()}, [&](size_t begin, absl::Span<const Root> batch) {
        return with_search ? ChooseBySearch(batch, &actions[begin])
                           : ChooseByPolicy(batch, &actions[begin]);
      }));
  return actions;
}

absl::Status Evaluator::ChooseBySearch(absl::Span<const Root> roots, int32_t* actions) {
  for (size_t i = 0; i < roots.size(); ++i) {
    if (!model_->NeedsState() || !roots[i].state.empty()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("position ", i, " of '", spec().id,
                     "' has no state, and this model searches with the environment itself; "
                     "allowed: positions with what Env::Save gives there (TimeStep::state), or the "
                     "policy alone"));
  }
  LZ_RETURN_IF_ERROR(agent_->Act(*model_, roots, ActMode::kEvaluate, 0, &decision_));
  std::copy_n(decision_.actions.begin(), roots.size(), actions);
  return absl::OkStatus();
}

absl::Status Evaluator::ChooseByPolicy(absl::Span<const Root> roots, int32_t* actions) {
  const size_t num_actions = static_cast<size_t>(model_->num_actions());
  const size_t width = std::max(num_actions, static_cast<size_t>(model_->num_chance_outcomes()));
  std::vector<float> logits(roots.size() * width), values(roots.size());
  model_->BeginSearch({});
  LZ_RETURN_IF_ERROR(
      model_->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)));
  const SampledActions* sampled = model_->sampled_actions();
  for (size_t i = 0; i < roots.size(); ++i) {
    const uint8_t* legal = sampled != nullptr ? sampled->slot_mask.data() + i * num_actions
                                              : roots[i].legal_action_mask.data();
    const float* row = logits.data() + i * width;
    int best = -1;
    for (size_t a = 0; a < num_actions; ++a) {
      if (legal[a] == 0) continue;
      if (best < 0 || row[a] > row[best]) best = static_cast<int>(a);
    }
    LZ_CHECK(best >= 0, "position ", i, " has no legal action");
    actions[i] = sampled != nullptr ? sampled->indices[i * num_actions + best] : best;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<float>> Evaluator::PredictChance(absl::Span<const TimeStep> positions,
                                                            absl::Span<const int32_t> actions) {
  LZ_CHECK(actions.size() == positions.size(), actions.size(), " actions");
  const size_t num_outcomes = static_cast<size_t>(model_->num_chance_outcomes());
  if (num_outcomes == 0) {
    return absl::FailedPreconditionError(
        "this model has no chance nodes; allowed: model.family stochastic_muzero");
  }
  std::vector<float> probabilities(positions.size() * num_outcomes);
  LZ_RETURN_IF_ERROR(InBatches(MakeRoots(positions), [&](size_t begin,
                                                         absl::Span<const Root> batch) {
    return PredictBatch(
        batch, actions.subspan(begin, batch.size()),
        absl::MakeSpan(probabilities).subspan(begin * num_outcomes, batch.size() * num_outcomes));
  }));
  return probabilities;
}

absl::Status Evaluator::PredictBatch(absl::Span<const Root> roots,
                                     absl::Span<const int32_t> actions,
                                     absl::Span<float> probabilities) {
  // One action from every root leads to its afterstate, whose logits are of outcomes.
  const size_t num_outcomes = probabilities.size() / roots.size();
  const size_t width = std::max(static_cast<size_t>(model_->num_actions()), num_outcomes);
  std::vector<float> logits(roots.size() * width), values(roots.size()), rewards(roots.size()),
      discounts(roots.size());
  const std::vector<NodeId> parents(roots.size(), kRootNode), children(roots.size(), NodeId(1));
  model_->BeginSearch({});
  LZ_RETURN_IF_ERROR(
      model_->InitialInference(roots, absl::MakeSpan(logits), absl::MakeSpan(values)));
  LZ_RETURN_IF_ERROR(model_->RecurrentInference(parents, actions, children, absl::MakeSpan(rewards),
                                                absl::MakeSpan(discounts), absl::MakeSpan(values),
                                                absl::MakeSpan(logits)));
  // Softmax of each row.
  for (size_t i = 0; i < roots.size(); ++i) {
    const float* row = logits.data() + i * width;
    const float largest = *std::max_element(row, row + num_outcomes);
    double sum = 0.0;
    for (size_t c = 0; c < num_outcomes; ++c) sum += std::exp(double{row[c]} - largest);
    for (size_t c = 0; c < num_outcomes; ++c) {
      probabilities[i * num_outcomes + c] =
          static_cast<float>(std::exp(double{row[c]} - largest) / sum);
    }
  }
  return absl::OkStatus();
}

}  // namespace lzero
