#include "lzero/worker/staged_steps.h"

namespace lzero {

void StagedSteps::AddEntry(EnvId env, bool begins_episode, const Transition& transition) {
  if (num_entries_ == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[num_entries_++];
  entry.env = env;
  entry.begins_episode = begins_episode;
  entry.transition.Set(transition);
}

void StagedSteps::Begin(EnvId env, const TimeStep& first) {
  Transition transition;
  transition.observation = first.observation;
  transition.legal_action_mask = first.legal_action_mask;
  transition.to_play = first.to_play;
  AddEntry(env, /*begins_episode=*/true, transition);
}

void StagedSteps::Add(EnvId env, const Transition& transition) {
  AddEntry(env, /*begins_episode=*/false, transition);
  ++num_steps_;
}

absl::Status StagedSteps::MoveTo(ReplayBuffer& replay) {
  absl::Status moved;
  for (size_t i = 0; i < num_entries_ && moved.ok(); ++i) {
    const EnvId env = entries_[i].env;
    const Transition& seen = entries_[i].transition.view();
    moved = entries_[i].begins_episode
                ? replay.BeginEpisode(env, seen.observation, seen.legal_action_mask, seen.to_play)
                : replay.Append(env, seen);
  }
  Clear();
  return moved;
}

void StagedSteps::Clear() {
  num_entries_ = 0;
  num_steps_ = 0;
}

}  // namespace lzero
