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

namespace lzero {

// What a search decided at one position. Box: the values [D] of the action and all that were
// sampled [K, D], which `policy` is over.
struct SearchedAction {
  int32_t index = 0;
  absl::Span<const float> values;
  absl::Span<const float> sampled_actions;
  absl::Span<const float> policy;
  float root_value = 0.0f;
};

class StagedSteps {
 public:
  // An episode of `env` began with `first`.
  void Begin(EnvId env, const TimeStep& first);
  // `action` was taken after a search with this policy [A] (box: [K]) and root value; `next`
  // followed.
  void Add(EnvId env, const SearchedAction& action, const TimeStep& next);
  // Hands everything to the replay buffer in order and becomes empty (memory is kept).
  // InvalidArgument for the first observation that the buffer refuses; what follows is lost.
  absl::Status MoveTo(ReplayBuffer& replay);
  void Clear();
  int64_t num_steps() const { return num_steps_; }

 private:
  struct Entry {
    EnvId env;
    bool begins_episode = false;
    int32_t action = 0;
    float root_value = 0.0f;
    std::vector<float> policy, action_values, sampled_actions;
    TimeStep time_step;
  };
  Entry& NewEntry();
  static absl::Status Move(const Entry& entry, ReplayBuffer& replay);

  std::vector<Entry> entries_;  // the first num_entries_ are in use
  size_t num_entries_ = 0;
  int64_t num_steps_ = 0;
};

}  // namespace lzero

#endif  // LZERO_WORKER_STAGED_STEPS_H_
