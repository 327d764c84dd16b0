#include "lzero/worker/staged_steps.h"

namespace lzero {

void OwnedTransition::Set(const Transition& transition) {
  transition_ = transition;
  const auto own = [](auto* span, auto* memory) {
    memory->assign(span->begin(), span->end());
    *span = *memory;
  };
  own(&transition_.policy, &policy_);
  own(&transition_.observation, &observation_);
  own(&transition_.legal_action_mask, &legal_action_mask_);
  own(&transition_.action_values, &action_values_);
  own(&transition_.sampled_actions, &sampled_actions_);
}

void StagedSteps::AddEntry(EnvId env, bool begins_episode, const Transition& transition) {
  if (num_entries_ == entries_.size()) entries_.emplace_back();
  Entry& entry = entries_[num_entries_++];
  entry.env = env;
  entry.begins_episode = begins_episode;
  entry.transition.Set(transition);
  num_steps_ += begins_episode ? 0 : 1;
}

void StagedSteps::Begin(EnvId env, const TimeStep& first) {
  AddEntry(env, /*begins_episode=*/true,
           {.observation = first.observation,
            .legal_action_mask = first.legal_action_mask,
            .to_play = first.to_play});
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
