#include "lzero/worker/staged_steps.h"

namespace lzero {

StagedSteps::Entry& StagedSteps::NewEntry() {
  if (num_entries_ == entries_.size()) entries_.emplace_back();
  return entries_[num_entries_++];
}

void StagedSteps::Begin(EnvId env, const TimeStep& first) {
  Entry& entry = NewEntry();
  entry.env = env;
  entry.begins_episode = true;
  entry.time_step = first;
}

void StagedSteps::Add(EnvId env, const SearchedAction& action, const TimeStep& next) {
  Entry& entry = NewEntry();
  entry.env = env;
  entry.begins_episode = false;
  entry.action = action.index;
  entry.root_value = action.root_value;
  entry.policy.assign(action.policy.begin(), action.policy.end());
  entry.action_values.assign(action.values.begin(), action.values.end());
  entry.sampled_actions.assign(action.sampled_actions.begin(), action.sampled_actions.end());
  entry.time_step = next;
  ++num_steps_;
}

absl::Status StagedSteps::Move(const Entry& entry, ReplayBuffer& replay) {
  const TimeStep& seen = entry.time_step;
  if (entry.begins_episode) {
    return replay.BeginEpisode(entry.env, seen.observation, seen.legal_action_mask, seen.to_play);
  }
  StepRecord record;
  record.action = entry.action;
  record.reward = seen.reward;
  record.policy = entry.policy;
  record.action_values = entry.action_values;
  record.sampled_actions = entry.sampled_actions;
  record.chance_outcome = seen.chance_outcome;
  record.root_value = entry.root_value;
  record.observation = seen.observation;
  record.legal_action_mask = seen.legal_action_mask;
  record.to_play = seen.to_play;
  record.terminated = seen.terminated;
  record.truncated = seen.truncated;
  return replay.Append(entry.env, record);
}

absl::Status StagedSteps::MoveTo(ReplayBuffer& replay) {
  absl::Status moved;
  for (size_t i = 0; i < num_entries_ && moved.ok(); ++i) moved = Move(entries_[i], replay);
  Clear();
  return moved;
}

void StagedSteps::Clear() {
  num_entries_ = 0;
  num_steps_ = 0;
}

}  // namespace lzero
