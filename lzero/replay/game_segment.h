// A stretch of one episode: up to a fixed number of transitions, the observations around them, and
// the context: copies of the steps before its first one, so that it needs no earlier segment.
// Segments of an episode form a chain; the last observation of one is the first of the next, so no
// position is lost at a cut. Knows nothing of sampling or eviction. Not thread-safe.
//
//   observations  o_-C ... o_-1 | o_0 o_1 ... o_n      row 0 is the observation of first_step
//   actions       a_-C ... a_-1 | a_0 ... a_{n-1}      box: their values, too
#ifndef LZERO_REPLAY_GAME_SEGMENT_H_
#define LZERO_REPLAY_GAME_SEGMENT_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/replay/observation_store.h"
#include "lzero/replay/step_record.h"

namespace lzero {

struct SegmentShape {
  int observation_size = 0;
  int num_actions = 0;
  int num_context_steps = 0;  // kept before the first step, or as many as the episode has
  ObservationType observation_type = ObservationType::kFloat32;
  int frame_stack = 1;
  int action_dim = 0;           // D of box actions; 0: discrete
  int num_chance_outcomes = 0;  // 0: none is stored

  ObservationFormat format() const { return {observation_size, observation_type, frame_stack}; }
  // Entries of a legal action mask: box actions have none.
  int num_masked() const { return action_dim > 0 ? 0 : num_actions; }
};

// What follows the last transition of a segment.
enum class SegmentEnd : uint8_t {
  kRunsOn = 0,      // the next segment, or steps still to come
  kTerminated = 1,  // the episode ended by itself
  kTruncated = 2,   // a step cap cut it
  kAbandoned = 3,   // another episode began before it ended
};

class GameSegment {
 public:
  // An empty segment with room for `max_steps` transitions, beginning at step `first_step` of
  // episode number `episode`.
  GameSegment(const SegmentShape& shape, int max_steps, EnvId env, int64_t episode,
              int64_t first_step);
  GameSegment(const GameSegment&) = delete;
  GameSegment& operator=(const GameSegment&) = delete;

  // Bytes held by a segment with room for `max_steps` transitions that begins at step `first_step`
  // of its episode, the heap's own share estimated. The later it begins the more context it holds.
  static int64_t BytesFor(const SegmentShape& shape, int64_t max_steps, int64_t first_step);

  EnvId env() const { return env_; }
  int64_t episode() const { return episode_; }
  int64_t first_step() const { return first_step_; }
  int num_steps() const { return num_steps_; }
  int num_context_steps() const {
    return static_cast<int>(NumContextSteps(shape_, first_step_));  // C
  }
  int max_steps() const { return max_steps_; }
  SegmentEnd end() const { return end_; }
  void set_end(SegmentEnd end) { end_ = end; }
  const GameSegment* next() const { return next_; }
  const GameSegment* previous() const { return previous_; }
  GameSegment* mutable_next() { return next_; }
  GameSegment* mutable_previous() { return previous_; }

  // Makes `later` (which may be null) the segment that follows `earlier` (which may be null).
  static void Link(GameSegment* earlier, GameSegment* later);

  // What precedes the first transition. To be called before Append. InvalidArgument for an
  // observation that the environment must not give (ObservationStore::SetFirst).
  absl::Status SetFirstObservation(absl::Span<const float> observation,
                                   absl::Span<const uint8_t> legal_action_mask, int to_play);
  // Begins with the last observation of `earlier`, which has the same shape.
  void SetFirstObservationFrom(const GameSegment& earlier);
  // The context: the oldest block of each observation as CopyBlocks gave it, [C, block bytes], the
  // actions [C] and values of box actions [C, D]. The first observation is set already.
  void SetContext(absl::Span<const char> blocks, absl::Span<const int32_t> actions,
                  absl::Span<const float> action_values);
  // The context from the steps of `earlier` and its context. `earlier` has the same shape and ends
  // with the first observation of this one.
  void SetContextFrom(const GameSegment& earlier);
  // Whether the first observation, its legal mask and player are, bit for bit, the last of
  // `earlier`.
  bool BeginsWhereEnds(const GameSegment& earlier) const;
  // Adds a transition; there must be room. `leaf` and `sequence` are the owner's notes.
  // InvalidArgument (nothing added) for an observation that the environment must not give
  // (ObservationStore::SetNext).
  absl::Status Append(const StepRecord& step, int32_t leaf, int64_t sequence);
  // The search at step `step` was made again: its policy [A] (box: [K] over `sampled_actions`
  // [K, D]) and root value replace those stored.
  void ReplaceSearch(int step, absl::Span<const float> policy,
                     absl::Span<const float> sampled_actions, float root_value);
  // Gives back the room that is not used.
  void ShrinkToFit();

  // Writes observations first .. first + count - 1 to `out`, [count, obs] float32, or uint8 where
  // they are kept so; they lie in -C .. num_steps.
  template <typename T>
  void CopyObservations(int first, int count, T* out) const {
    observations_.CopyRows(num_context_steps() + first, count, out);
  }
  // Writes blocks first .. first + count - 1 as they are stored, [count, block bytes]; block i is
  // the oldest of observation i, the last one is num_steps + frame_stack - 1.
  void CopyBlocks(int first, int count, char* out) const {
    observations_.CopyBlocks(num_context_steps() + first, count, out);
  }
  // Writes actions first .. first + count - 1 to `out`, [count]; they lie in -C .. num_steps - 1.
  void CopyActions(int first, int count, int32_t* out) const {
    std::copy_n(Field<int32_t>(layout_.actions) + num_context_steps() + first, count, out);
  }
  // Box: writes the values of the same actions to `out`, [count, D].
  void CopyActionValues(int first, int count, float* out) const {
    const size_t dim = static_cast<size_t>(shape_.action_dim);
    std::copy_n(Field<float>(layout_.action_values) + (num_context_steps() + first) * dim,
                count * dim, out);
  }
  // Per transition, [num_steps]; policies [num_steps, A]; of box actions values [num_steps, D] and
  // sampled ones [num_steps, K, D].
  absl::Span<const int32_t> actions() const {
    return {Field<int32_t>(layout_.actions) + num_context_steps(), static_cast<size_t>(num_steps_)};
  }
  absl::Span<const float> rewards() const { return Steps<float>(layout_.rewards, 1); }
  absl::Span<const float> root_values() const { return Steps<float>(layout_.root_values, 1); }
  absl::Span<const float> policies() const {
    return Steps<float>(layout_.policies, shape_.num_actions);
  }
  absl::Span<const float> action_values() const {
    const size_t dim = static_cast<size_t>(shape_.action_dim);
    return {Field<float>(layout_.action_values) + num_context_steps() * dim, num_steps_ * dim};
  }
  absl::Span<const float> sampled_actions() const {
    return Steps<float>(layout_.sampled_actions, shape_.num_actions * shape_.action_dim);
  }
  // Empty where none is stored.
  absl::Span<const int32_t> chance_outcomes() const {
    return Steps<int32_t>(layout_.chance_outcomes, shape_.num_chance_outcomes > 0 ? 1 : 0);
  }
  absl::Span<const int32_t> leaves() const { return Steps<int32_t>(layout_.leaves, 1); }
  absl::Span<const int64_t> sequences() const { return Steps<int64_t>(layout_.sequences, 1); }
  // Per observation, [num_steps + 1, A] (box: empty) and [num_steps + 1].
  absl::Span<const uint8_t> legal_action_masks() const {
    return {Field<uint8_t>(layout_.legal_action_masks),
            static_cast<size_t>(num_steps_ + 1) * shape_.num_masked()};
  }
  absl::Span<const uint8_t> to_play() const {
    return {Field<uint8_t>(layout_.to_play), static_cast<size_t>(num_steps_ + 1)};
  }

 private:
  // Where each field begins inside the block, in bytes.
  struct Layout {
    size_t sequences, leaves, actions, chance_outcomes, action_values, rewards, root_values,
        policies, sampled_actions, legal_action_masks, to_play;
  };
  static Layout LayoutFor(const SegmentShape& shape, int64_t max_steps, int64_t first_step);
  // Bytes of a block with this layout.
  static size_t BlockSize(const Layout& layout, int64_t max_steps);
  static int64_t NumContextSteps(const SegmentShape& shape, int64_t first_step) {
    return std::min<int64_t>(shape.num_context_steps, first_step);
  }

  template <typename T>
  const T* Field(size_t offset) const {
    return reinterpret_cast<const T*>(block_.get() + offset);
  }
  template <typename T>
  T* MutableField(size_t offset) {
    return reinterpret_cast<T*>(block_.get() + offset);
  }
  template <typename T>
  absl::Span<const T> Steps(size_t offset, int per_step) const {
    return {Field<T>(offset), static_cast<size_t>(num_steps_) * per_step};
  }
  void CheckSizes(absl::Span<const float> observation, absl::Span<const uint8_t> legal_action_mask,
                  int to_play) const;
  void SetMaskRow(int row, absl::Span<const uint8_t> legal_action_mask, int to_play);

  SegmentShape shape_;
  int max_steps_;
  int num_steps_ = 0;
  EnvId env_;
  SegmentEnd end_ = SegmentEnd::kRunsOn;
  int64_t episode_;
  int64_t first_step_;
  GameSegment* previous_ = nullptr;
  GameSegment* next_ = nullptr;
  Layout layout_;
  std::unique_ptr<std::byte[]> block_;
  ObservationStore observations_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_GAME_SEGMENT_H_
