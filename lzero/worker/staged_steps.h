// What a collector saw and has not yet given to the replay buffer: the seam between collecting and
// learning when both run at the same time. Filled by the collector's thread, emptied at a barrier.
#ifndef LZERO_WORKER_STAGED_STEPS_H_
#define LZERO_WORKER_STAGED_STEPS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "lzero/base/ids.h"
#include "lzero/env/env.h"
#include "lzero/replay/replay_buffer.h"
#include "lzero/replay/transition.h"

namespace lzero {

// A transition with memory of its own, used again and again. Movable: vectors keep their memory.
class OwnedTransition {
 public:
  OwnedTransition() = default;
  OwnedTransition(OwnedTransition&&) = default;

  void Set(const Transition& transition);
  const Transition& view() const { return transition_; }

 private:
  Transition transition_;  // its spans show the vectors
  std::vector<float> policy_, observation_, action_values_, sampled_actions_;
  std::vector<uint8_t> legal_action_mask_;
};

class StagedSteps {
 public:
  // An episode of `env` began with `first`.
  void Begin(EnvId env, const TimeStep& first);
  // The next step of that episode.
  void Add(EnvId env, const Transition& transition) { AddEntry(env, false, transition); }
  // Hands everything to the replay buffer in order and becomes empty (memory is kept).
  // InvalidArgument for the first observation that the buffer refuses; what follows is lost.
  absl::Status MoveTo(ReplayBuffer& replay);
  void Clear();
  int64_t num_steps() const { return num_steps_; }

 private:
  struct Entry {
    EnvId env;
    bool begins_episode = false;
    OwnedTransition transition;  // of an episode's beginning what came first
  };
  void AddEntry(EnvId env, bool begins_episode, const Transition& transition);

  std::vector<Entry> entries_;  // the first num_entries_ are in use
  size_t num_entries_ = 0;
  int64_t num_steps_ = 0;
};

}  // namespace lzero

#endif  // LZERO_WORKER_STAGED_STEPS_H_
