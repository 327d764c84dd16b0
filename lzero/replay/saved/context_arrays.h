// The context of stored segments as named arrays, for checkpoints. The file holds it only where the
// segment before is not stored any more; a segment that follows another in the file takes its
// context from there, so nothing is written twice. Not thread-safe.
//   context_steps I64 [1]              most context steps of a segment when it was saved
//   context_observations [X, block]    of every segment without a predecessor, in their order:
//   context_actions I32 [X]            min(context_steps, its first step) steps
//   context_action_values F32 [X, D]   of box actions
// An observation stands here by its oldest block, as it is stored (U8 or F32; replay_export.h). A
// store that keeps no context has none of these arrays.
#ifndef LZERO_REPLAY_SAVED_CONTEXT_ARRAYS_H_
#define LZERO_REPLAY_SAVED_CONTEXT_ARRAYS_H_

#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/saved/replay_arrays.h"

namespace lzero {

// Appends the arrays of these segments, all of this shape; the large ones in parts.
void ExportContexts(const SegmentShape& shape, const StoredSegments& segments,
                    std::vector<NamedArray>* arrays);

// Reads them back, segment by segment in the order of the file.
class ContextReader {
 public:
  explicit ContextReader(const SegmentShape& shape) : shape_(shape) {}

  // InvalidArgument when the arrays are misshapen or out of range. Comes first; the arrays must
  // live until the last Restore.
  absl::Status Open(absl::Span<const NamedArray> arrays);
  // The context of the next segment without a predecessor. Fewer steps than were saved may be
  // wanted; InvalidArgument when it is more, or the arrays are too short.
  absl::Status Restore(GameSegment* segment);
  // InvalidArgument when the arrays hold more than was restored.
  absl::Status Close() const;

 private:
  SegmentShape shape_;
  int64_t num_saved_steps_ = 0;
  absl::string_view observations_;
  std::vector<int32_t> actions_;
  std::vector<float> action_values_;
  size_t next_ = 0;
};

}  // namespace lzero

#endif  // LZERO_REPLAY_SAVED_CONTEXT_ARRAYS_H_
