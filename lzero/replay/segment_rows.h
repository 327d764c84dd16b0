// Rows of an episode that may go on over several segments. Pure functions; any thread.
#ifndef LZERO_REPLAY_SEGMENT_ROWS_H_
#define LZERO_REPLAY_SEGMENT_ROWS_H_

#include <algorithm>
#include <cstddef>

#include "absl/types/span.h"
#include "lzero/replay/game_segment.h"
#include "lzero/replay/position_index.h"

namespace lzero {

// Calls visit(segment, step, count, offset) for the pieces, in order, of the `num_steps` steps (or
// as many as there are) from `step` of `segment` on, below 0 for its context. `offset` counts the
// steps before the piece.
template <typename Visit>
void ForEachPiece(const GameSegment* segment, int step, int num_steps, Visit visit) {
  int offset = 0;
  while (true) {
    const int count = std::min(num_steps - offset, segment->num_steps() - step);
    if (count > 0) visit(*segment, step, count, offset);
    offset += count;
    if (offset == num_steps || segment->next() == nullptr) return;
    segment = segment->next();
    step = 0;
  }
}

// Copies the rows that a field has for those steps, and `num_more` behind them, to row `row` of
// `out` and those that follow.
template <Stored Field, typename T>
void Gather(const PositionIndex::Place& place, int num_steps, int num_more, T* out, size_t row) {
  ForEachPiece(place.segment, place.step, num_steps,
               [&](const GameSegment& piece, int first, int count, int offset) {
                 const size_t row_size = piece.Rows<T>(Field, first, 1).size();
                 const absl::Span<const T> rows = piece.Rows<T>(Field, first, count + num_more);
                 if (row_size > 0)
                   std::copy(rows.begin(), rows.end(), out + (row + offset) * row_size);
               });
}

}  // namespace lzero

#endif  // LZERO_REPLAY_SEGMENT_ROWS_H_
