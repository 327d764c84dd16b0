#include "tests/replay/replay_model.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gtest/gtest.h"

namespace lzero {

std::unique_ptr<ReplayBuffer> MakeBuffer(const ReplayConfig& config, const ReplayShape& shape) {
  auto buffer = ReplayBuffer::Create(config, shape);
  EXPECT_TRUE(buffer.ok()) << buffer.status().message();
  return std::move(buffer).value();
}

ReplayModel::ReplayModel(const ReplayConfig& config, const ReplayShape& shape)
    : config_(config), shape_(shape), current_(shape.num_envs, -1), cut_(shape.num_envs, 0) {}

void ReplayModel::Finish(int env, ModelEnd end) {
  ModelEpisode& episode = episodes_[current_[env]];
  if (episode.size() > cut_[env]) finished_.push_back({current_[env], cut_[env], episode.size()});
  episode.end = end;
  current_[env] = -1;
}

void ReplayModel::Begin(int env, const std::vector<float>& observation,
                        const std::vector<uint8_t>& legal, int to_play) {
  if (current_[env] >= 0) Finish(env, ModelEnd::kAbandoned);
  current_[env] = static_cast<int>(episodes_.size());
  cut_[env] = 0;
  episodes_.emplace_back();
  where_.resize(static_cast<size_t>(observation[0]) + 1, {-1, -1});
  where_[static_cast<size_t>(observation[0])] = {current_[env], 0};
  episodes_.back().observations.push_back(observation);
  episodes_.back().legal.push_back(legal);
  episodes_.back().to_play.push_back(to_play);
}

void ReplayModel::Append(int env, const Transition& step) {
  if (num_transitions_ + 1 > config_.capacity) {
    const Piece oldest = finished_.front();
    finished_.pop_front();
    num_transitions_ -= oldest.end - oldest.begin;
    episodes_[oldest.episode].first_kept = oldest.end;
  }
  ModelEpisode& episode = episodes_[current_[env]];
  const size_t number = static_cast<size_t>(step.observation[0]);
  where_.resize(number + 1, {-1, -1});
  where_[number] = {current_[env], episode.size() + 1};
  episode.observations.emplace_back(step.observation.begin(), step.observation.end());
  episode.legal.emplace_back(step.legal_action_mask.begin(), step.legal_action_mask.end());
  episode.to_play.push_back(step.to_play);
  episode.actions.push_back(step.action);
  episode.rewards.push_back(step.reward);
  episode.root_values.push_back(step.root_value);
  episode.policies.emplace_back(step.policy.begin(), step.policy.end());
  episode.sequences.push_back(num_appended_++);
  ++num_transitions_;
  if (step.terminated || step.truncated) {
    Finish(env, step.terminated ? ModelEnd::kTerminated : ModelEnd::kTruncated);
  } else if (episode.size() - cut_[env] == config_.segment_length) {
    finished_.push_back({current_[env], cut_[env], episode.size()});
    cut_[env] = episode.size();
  }
}

bool ReplayModel::IsEligible(const ModelEpisode& episode, int position) const {
  const int n = episode.size();
  if (position < episode.first_kept || position >= n) return false;
  if (episode.end == ModelEnd::kTerminated || episode.end == ModelEnd::kTruncated) return true;
  const int64_t unroll = config_.num_unroll_steps;
  const int64_t td = config_.td_steps;
  const int64_t last_known = config_.value_bootstrap == ValueBootstrap::kSearch ? n - 1 : n;
  return position + unroll - 1 + td <= last_known && position + unroll <= n;
}

int64_t ReplayModel::CountEligible() const {
  int64_t count = 0;
  for (const ModelEpisode& episode : episodes_) {
    for (int t = episode.first_kept; t < episode.size(); ++t) count += IsEligible(episode, t);
  }
  return count;
}

std::pair<const ModelEpisode*, int> ReplayModel::Locate(float observation_number) const {
  const auto& [episode, step] = where_.at(static_cast<size_t>(observation_number));
  return {&episodes_[episode], step};
}

void ReplayModel::ExpectBatch(const TrainBatch& batch) const {
  const int sequence = batch.num_context_steps + batch.num_unroll_steps;
  double age = 0.0;
  for (int row = 0; row < batch.num_samples; ++row) {
    const int64_t start = static_cast<int64_t>(row) * (sequence + 1) + batch.num_context_steps;
    const auto [episode, t] = Locate(batch.observations[start * batch.observation_size]);
    ASSERT_TRUE(IsEligible(*episode, t)) << "step " << t << " of " << episode->size();
    ExpectSequence(batch, row, *episode, t);
    for (int k = 0; k < batch.num_unroll_steps; ++k) ExpectStep(batch, row, k, *episode, t);
    age += static_cast<double>(num_appended_ - (episode->sequences[t] + 1));
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_NEAR(batch.mean_age, age / batch.num_samples, 1e-6);
}

void ReplayModel::ExpectSequence(const TrainBatch& batch, int row, const ModelEpisode& e,
                                 int t) const {
  const int context = batch.num_context_steps;
  const int unroll = batch.num_unroll_steps;
  const int size = batch.observation_size;
  for (int k = -context; k <= unroll; ++k) {
    int index = t + k;
    if (index < 0) index = 0;
    if (index > e.size()) index = e.size();
    const int64_t slot = static_cast<int64_t>(row) * (context + unroll + 1) + context + k;
    const std::vector<float> stored(batch.observations.begin() + slot * size,
                                    batch.observations.begin() + (slot + 1) * size);
    ASSERT_EQ(stored, e.observations[index]) << "step " << t << " k " << k;
    if (k == unroll) break;
    const int action = batch.actions[static_cast<int64_t>(row) * (context + unroll) + context + k];
    const bool known = t + k >= 0 && t + k < e.size();
    if (known) {
      ASSERT_EQ(action, e.actions[t + k]);
    } else if (k < 0) {
      ASSERT_EQ(action, 0);
    } else {
      ASSERT_TRUE(action >= 0 && action < batch.num_actions) << action;
    }
    if (k < 0) {
      ASSERT_EQ(batch.context_mask[static_cast<int64_t>(row) * context + context + k],
                known ? 1.0f : 0.0f);
    }
  }
}

void ReplayModel::ExpectStep(const TrainBatch& batch, int row, int k, const ModelEpisode& e,
                             int t) const {
  const int s = t + k;
  const int64_t slot = static_cast<int64_t>(row) * batch.num_unroll_steps + k;
  const bool real = s < e.size();
  const bool absorbing =
      !real && e.end == ModelEnd::kTerminated && shape_.terminal == TerminalMode::kAbsorb;
  const float known = real || absorbing ? 1.0f : 0.0f;
  ASSERT_EQ(batch.reward_mask[slot], known);
  ASSERT_EQ(batch.latent_mask[slot], known);
  ASSERT_EQ(batch.value_mask[slot], known);
  ASSERT_EQ(batch.policy_mask[slot], real ? 1.0f : 0.0f);
  ASSERT_EQ(batch.rewards[slot], real ? e.rewards[s] : 0.0f);
  for (int a = 0; a < batch.num_actions; ++a) {
    ASSERT_EQ(batch.policies[slot * batch.num_actions + a], real ? e.policies[s][a] : 0.0f);
    ASSERT_EQ(batch.legal_action_masks[slot * batch.num_actions + a], real ? e.legal[s][a] : 1);
  }
  if (real) {
    ExpectValue(batch, row, k, e, s);
    return;
  }
  ASSERT_EQ(batch.partial_returns[slot], 0.0f);
  ASSERT_EQ(batch.bootstrap_scales[slot], 0.0f);
  for (int i = 0; i < batch.observation_size; ++i) {
    ASSERT_EQ(batch.bootstrap_observations[slot * batch.observation_size + i], 0.0f);
  }
}

void ReplayModel::ExpectValue(const TrainBatch& batch, int row, int k, const ModelEpisode& e,
                              int s) const {
  const int end = e.size();
  const bool search = config_.value_bootstrap == ValueBootstrap::kSearch;
  int n = static_cast<int>(std::min<int64_t>(config_.td_steps, end - s));
  const bool stops = s + n == end && e.end == ModelEnd::kTerminated;
  if (search && !stops && s + n == end) n = end - 1 - s;  // no search was made at o_T
  double partial = 0.0;
  for (int i = 0; i < n; ++i) {
    const double sign = e.to_play[s + i] == e.to_play[s] ? 1.0 : -1.0;
    partial += sign * std::pow(config_.discount, i) * e.rewards[s + i];
  }
  double scale = 0.0;
  if (!stops) {
    scale = (e.to_play[s + n] == e.to_play[s] ? 1.0 : -1.0) * std::pow(config_.discount, n);
    if (search) partial += scale * e.root_values[s + n];
    if (search) scale = 0.0;
  }
  const int64_t slot = static_cast<int64_t>(row) * batch.num_unroll_steps + k;
  ASSERT_NEAR(batch.partial_returns[slot], partial, 1e-5 * (1.0 + std::abs(partial)));
  ASSERT_NEAR(batch.bootstrap_scales[slot], scale, 1e-6);
  for (int i = 0; i < batch.observation_size; ++i) {
    ASSERT_EQ(batch.bootstrap_observations[slot * batch.observation_size + i],
              scale == 0.0 ? 0.0f : e.observations[s + n][i])
        << "bootstrap of step " << s << " at " << s + n << " of " << end;
  }
}

void ReplayModel::ReplaceSearch(float observation_number, const std::vector<float>& policy,
                                float root_value) {
  const auto [episode, step] = where_[static_cast<size_t>(observation_number)];
  episodes_[episode].policies[step] = policy;
  episodes_[episode].root_values[step] = root_value;
}

std::vector<float> RandomPlay::Observation(int env, bool begins) {
  std::vector<float> observation(shape_.observation_size);
  for (float& value : observation) {
    value = static_cast<float>(Draw());
    if (shape_.observation_type == ObservationType::kUint8) {
      value = std::floor(value * 256.0f) / 255.0f;
    }
  }
  if (shape_.observation_type == ObservationType::kFloat32) {
    observation[0] = static_cast<float>(num_observations_++);
  }
  if (!begins) {
    const int block_size = shape_.observation_size / shape_.frame_stack;
    std::copy(last_[env].begin() + block_size, last_[env].end(), observation.begin());
  }
  last_[env] = observation;
  return observation;
}

std::vector<uint8_t> RandomPlay::Legal() {
  std::vector<uint8_t> legal(shape_.num_actions);
  for (uint8_t& value : legal) value = Draw() < 0.7;
  return legal;
}

void RandomPlay::Begin(int env, ReplayBuffer* buffer, ReplayModel* model) {
  const std::vector<float> observation = Observation(env, true);
  const std::vector<uint8_t> legal = Legal();
  const int to_play = static_cast<int>(Draw() * options_.num_players);
  EXPECT_TRUE(buffer->BeginEpisode(EnvId(env), observation, legal, to_play).ok());
  if (model != nullptr) model->Begin(env, observation, legal, to_play);
  ended_[env] = false;
}

void RandomPlay::Step(ReplayBuffer* buffer, ReplayModel* model) {
  const int env = next_env_;
  next_env_ = (next_env_ + 1) % shape_.num_envs;
  if (ended_[env] || Draw() < options_.abandon) Begin(env, buffer, model);
  const std::vector<float> observation = Observation(env, false);
  const std::vector<uint8_t> legal = Legal();
  std::vector<float> policy(shape_.num_actions);
  for (float& value : policy) value = static_cast<float>(Draw());
  Transition step;
  step.action = static_cast<int32_t>(Draw() * shape_.num_actions);
  step.reward = static_cast<float>(Draw() * 2.0 - 1.0);
  step.policy = policy;
  step.root_value = static_cast<float>(Draw() * 2.0 - 1.0);
  step.observation = observation;
  step.legal_action_mask = legal;
  step.to_play = static_cast<int>(Draw() * options_.num_players);
  step.terminated = Draw() < options_.terminate;
  step.truncated = Draw() < options_.truncate;
  EXPECT_TRUE(buffer->Append(EnvId(env), step).ok());
  if (model != nullptr) model->Append(env, step);
  ended_[env] = step.terminated || step.truncated;
}

}  // namespace lzero
