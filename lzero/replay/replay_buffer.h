// The replay buffer: game segments of many environments, an exact index of the positions that may
// be sampled, uniform or prioritised sampling, and the targets of training.md section 2. Internally
// locked: a collector thread appends while a learner thread samples; what is sampled depends only
// on the order of the calls and the random stream, not on timing.
#ifndef LZERO_REPLAY_REPLAY_BUFFER_H_
#define LZERO_REPLAY_REPLAY_BUFFER_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/base/named_array.h"
#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/train_batch.h"

namespace lzero {

struct ReplayShape {
  int observation_size = 0;
  int num_actions = 0;
  int num_envs = 0;
  TerminalMode terminal = TerminalMode::kAbsorb;
};

// One transition as the collector saw it.
struct StepRecord {
  int32_t action = 0;
  float reward = 0.0f;             // from the view of the player who moved
  absl::Span<const float> policy;  // [A] search distribution at the observation before the step
  float root_value = 0.0f;         // of that search, from the view of the player to move
  absl::Span<const float> observation;          // after the step
  absl::Span<const uint8_t> legal_action_mask;  // [A] after the step
  int to_play = 0;                              // after the step
  bool terminated = false;
  bool truncated = false;
};

struct ReplayStats {
  int64_t num_transitions = 0;  // stored now
  int64_t num_eligible = 0;     // positions that can be sampled now
  int64_t num_segments = 0;
  int64_t num_episodes_ended = 0;
  int64_t num_appended = 0;  // over the whole run
  int64_t num_sampled = 0;   // positions, over the whole run
  int64_t bytes = 0;         // held by segments and index
};

class ReplayBuffer {
 public:
  // InvalidArgument when the smallest useful content does not fit capacity or bytes (names both).
  static absl::StatusOr<std::unique_ptr<ReplayBuffer>> Create(const ReplayConfig& config,
                                                              const ReplayShape& shape);
  virtual ~ReplayBuffer() = default;

  // Starts an episode of `env` with its first observation; an unfinished one before it is closed as
  // it stands (its complete positions stay).
  virtual void BeginEpisode(EnvId env, absl::Span<const float> observation,
                            absl::Span<const uint8_t> legal_action_mask, int to_play) = 0;
  // Adds a transition to the episode of `env`; terminated or truncated ends it.
  virtual void Append(EnvId env, const StepRecord& step) = 0;

  // Fills `batch` with `num_samples` positions. FailedPrecondition when none is eligible. Allocates
  // only when the batch's shape changes.
  virtual absl::Status Sample(int num_samples, RandomStream& random, TrainBatch* batch) = 0;

  // New priorities (>= 0) for sampled positions; those recycled meanwhile are left alone.
  virtual void UpdatePriorities(absl::Span<const PositionHandle> positions,
                                absl::Span<const float> priorities) = 0;

  virtual ReplayStats stats() const = 0;

  // Everything, priorities and unfinished segments included; Import restores it exactly: the same
  // later calls give the same samples. Import: InvalidArgument (nothing changed) when the arrays do
  // not fit this buffer's shape or contradict each other.
  virtual std::vector<NamedArray> Export() const = 0;
  virtual absl::Status Import(absl::Span<const NamedArray> arrays) = 0;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_REPLAY_BUFFER_H_
