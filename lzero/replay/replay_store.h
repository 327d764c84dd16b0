// What a replay buffer holds: the segment each environment is filling, the finished ones from the
// oldest to the newest, and the index of their positions. Appends, evicts, and decides what is
// eligible; it neither samples nor makes targets. Not thread-safe: ReplayBuffer locks.
#ifndef LZERO_REPLAY_REPLAY_STORE_H_
#define LZERO_REPLAY_REPLAY_STORE_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/batch/targets.h"
#include "lzero/replay/batch/window_reader.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/position_index.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/transition.h"

namespace lzero {

class ReplayStore {
 public:
  // Numbers of the whole run, stored in a checkpoint as they are.
  struct Counters {
    int64_t num_appended = 0;        // transitions
    int64_t num_sampled = 0;         // positions
    int64_t num_episodes_ended = 0;  // terminated or truncated
    int64_t num_episodes_begun = 0;
    double max_priority = 1.0;  // of all priorities ever set, and 1
  };

  // `config` and `shape` have passed CheckReplayConfig.
  ReplayStore(const ReplayConfig& config, const ReplayShape& shape);

  // See ReplayBuffer: observation [obs] float32, legal_action_mask [A] uint8.
  absl::Status BeginEpisode(EnvId env, absl::Span<const float> observation,
                            absl::Span<const uint8_t> legal_action_mask, int to_play);
  absl::Status Append(EnvId env, const Transition& step);

  // The sampling weight of a priority: max(priority, 1e-6)^priority_exponent, so that no eligible
  // position is out of reach; 1 when replay is uniform.
  double WeightOf(double priority) const;

  PositionIndex& index() { return index_; }
  const PositionIndex& index() const { return index_; }
  Counters& counters() { return counters_; }
  const Counters& counters() const { return counters_; }
  int64_t num_segments() const;
  int64_t num_transitions() const { return index_.num_used(); }
  // Held by segments and index: the room that each environment's next segment will take is counted
  // from the start.
  int64_t bytes() const { return fixed_bytes_ + finished_bytes_; }
  const std::deque<std::unique_ptr<GameSegment>>& finished() const { return finished_; }
  // [num_envs], null where no episode is going on.
  const std::vector<std::unique_ptr<GameSegment>>& open() const { return open_; }
  // A segment as this store makes them, with room for `max_steps`.
  std::unique_ptr<GameSegment> MakeSegment(int max_steps, EnvId env, int64_t episode,
                                           int64_t first_step) const;

  // Puts back segments of a checkpoint, in their order, linked by the caller; their leaves must be
  // restored in index() as well. FitsFinished: whether the limits leave room for one more.
  void Restore(std::unique_ptr<GameSegment> segment, bool is_open);
  bool FitsFinished(int num_steps, int64_t first_step) const;

  // Whether position `position` may be sampled in an episode of `length` transitions so far whose
  // last segment ends as given. With replay.sample_from: episode_starts, only the first may.
  bool IsEligible(int64_t position, int64_t length, SegmentEnd end) const;

 private:
  int max_steps() const { return static_cast<int>(config_.segment_length); }  // of a segment
  void EvictOldest();
  // Evicts until that much more fits.
  void MakeRoom(int64_t more_transitions, int64_t more_bytes);
  // Ends the open segment of `env` and moves it to the finished ones.
  void Finish(EnvId env, SegmentEnd end);
  // The first priority of a position whose targets are known.
  double InitialPriority(const PositionIndex::Place& place);
  // Makes positions first .. last of the episode that `tail` ends (or is ending) eligible.
  void MarkEligible(GameSegment* tail, int64_t first, int64_t last);

  const ReplayConfig config_;
  const int64_t max_bytes_;
  const int64_t horizon_;
  const int64_t fixed_bytes_;
  const SegmentShape shape_;
  ValueTargetRule rule_;  // of initial priorities
  WindowReader window_reader_;
  int64_t finished_bytes_ = 0;
  Counters counters_;
  PositionIndex index_;
  std::deque<std::unique_ptr<GameSegment>> finished_;
  std::vector<std::unique_ptr<GameSegment>> open_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_REPLAY_STORE_H_
