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
#include <array>
#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/ids.h"
#include "lzero/replay/observation_store.h"
#include "lzero/replay/stored_fields.h"
#include "lzero/replay/transition.h"

namespace lzero {

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
  GameSegment* next() const { return next_; }
  GameSegment* previous() const { return previous_; }

  // Makes `later` (which may be null) the segment that follows `earlier` (which may be null).
  static void Link(GameSegment* earlier, GameSegment* later);

  // Sets the first observation [obs] float32, with its legal_action_mask [A] uint8 (box: empty),
  // and the player to move. To be called before Append. InvalidArgument for an observation that the
  // environment must not give (ObservationStore::SetFirst).
  absl::Status SetFirstObservation(absl::Span<const float> observation,
                                   absl::Span<const uint8_t> legal_action_mask, int to_play);
  // Begins with the last observation of `earlier`, which has the same shape.
  void SetFirstObservationFrom(const GameSegment& earlier);
  // Sets the context: the oldest block of each observation as Blocks gave it, [C, block bytes], the
  // actions [C] int32 and values of box actions [C, D] float32.
  // The first observation must be set already.
  void SetContext(absl::string_view blocks, absl::Span<const int32_t> actions,
                  absl::Span<const float> action_values);
  // Copies the context from the steps and the context of `earlier`, which must have the same shape
  // and end with the first observation of this segment.
  void SetContextFrom(const GameSegment& earlier);
  // Whether the first observation, its legal mask and player are, bit for bit, the last of
  // `earlier`.
  bool BeginsWhereEnds(const GameSegment& earlier) const;
  // Adds a transition, shapes as in transition.h; there must be room. The segment keeps `leaf` and
  // `sequence` for its owner. InvalidArgument (nothing added) for an observation that the
  // environment must not give (ObservationStore::SetNext).
  absl::Status Append(const Transition& step, int32_t leaf, int64_t sequence);
  // The search at step `step` was made again: its policy [A] float32 (box: [K] over
  // `sampled_actions` [K, D]) and root value replace those stored.
  void ReplaceSearch(int step, absl::Span<const float> policy,
                     absl::Span<const float> sampled_actions, float root_value);
  // Notes for the owner when the search at step `step` was made, in positions sampled until then;
  // nothing where the shape stores none.
  void SetSearchTime(int step, int64_t time);
  // Fills a segment that is empty but for its context with `num_steps` steps, from what Blocks(0,
  // ..) and Bytes of every field gave.
  void Restore(int num_steps, absl::string_view blocks,
               const std::array<absl::string_view, kNumStored>& fields);
  // Gives back the room that is not used.
  void ShrinkToFit();

  // Writes observations first .. first + count - 1 to `out`, [count, obs] float32, or uint8 where
  // they are kept so; they lie in -C .. num_steps.
  template <typename T>
  void CopyObservations(int first, int count, T* out) const {
    observations_.CopyRows(num_context_steps() + first, count, out);
  }
  // A view of blocks first .. first + count - 1 as they are stored, [count, block bytes]; block i
  // is the oldest of observation i, the last one is num_steps + frame_stack - 1.
  absl::string_view Blocks(int first, int count) const {
    return observations_.Blocks(num_context_steps() + first, count);
  }
  // A view of rows first .. first + count - 1 of a field, which has elements of type T, [count,
  // columns]; those of the context are below 0. Empty where the shape stores none.
  template <typename T>
  absl::Span<const T> Rows(Stored field, int64_t first, int64_t count) const {
    const int64_t columns = FieldOf(field).NumColumns(shape_);
    const char* row_0 = block_.get() + layout_[static_cast<size_t>(field)];
    return {reinterpret_cast<const T*>(row_0) + first * columns,
            static_cast<size_t>(count * columns)};
  }
  // All rows but those of the context: num_steps, or num_steps + 1 of what every observation has.
  template <typename T>
  absl::Span<const T> Rows(Stored field) const {
    return Rows<T>(field, 0, FieldOf(field).NumRows(num_steps_));
  }
  absl::Span<const int32_t> leaves() const { return Rows<int32_t>(Stored::kLeaf); }
  absl::Span<const int64_t> sequences() const { return Rows<int64_t>(Stored::kSequence); }
  // The same as bytes.
  absl::string_view Bytes(Stored field, int64_t first, int64_t count) const {
    return {block_.get() + RowOffset(field, first),
            static_cast<size_t>(count * FieldOf(field).RowBytes(shape_))};
  }
  absl::string_view Bytes(Stored field) const {
    return Bytes(field, 0, FieldOf(field).NumRows(num_steps_));
  }

 private:
  // Where row 0 of each field lies inside the block, in bytes.
  using Layout = std::array<int64_t, kNumStored>;
  static Layout LayoutFor(const SegmentShape& shape, int64_t max_steps, int64_t first_step);
  // Bytes of a block with this layout: one byte for each observation's player comes last.
  static int64_t BlockSize(const Layout& layout, int64_t max_steps) {
    return layout.back() + max_steps + 1;
  }
  static int64_t NumContextSteps(const SegmentShape& shape, int64_t first_step) {
    return std::min<int64_t>(shape.num_context_steps, first_step);
  }

  // Row `row` of a field; those of the context are below 0.
  int64_t RowOffset(Stored field, int64_t row) const {
    return layout_[static_cast<size_t>(field)] + row * FieldOf(field).RowBytes(shape_);
  }
  // Writes rows of a field from row `first` on.
  void SetBytes(Stored field, int64_t first, absl::string_view bytes);
  // Writes row `row` of a field. The caller must give as many `values` as the field has columns.
  template <typename T>
  void SetRow(Stored field, int64_t row, absl::Span<const T> values);
  template <typename T>
  void SetRow(Stored field, int64_t row, T value) {
    SetRow(field, row, absl::Span<const T>(&value, 1));
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
  std::unique_ptr<char[]> block_;
  ObservationStore observations_;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_GAME_SEGMENT_H_
