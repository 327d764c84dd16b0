// A replay store as named arrays, for checkpoints, and what the reading side (replay_import.h) must
// know of their layout. Not the file format: lzero/run/safetensors.h writes the arrays. Pure
// functions; whoever owns the store holds its lock.
#ifndef LZERO_REPLAY_SAVED_REPLAY_EXPORT_H_
#define LZERO_REPLAY_SAVED_REPLAY_EXPORT_H_

#include <cstdint>
#include <vector>

#include "lzero/base/named_array.h"
#include "lzero/config/experiment_config.h"
#include "lzero/replay/replay_plan.h"
#include "lzero/replay/replay_store.h"

namespace lzero {

// A number that must be the same on the saving and on the loading side. The first one is the format
// of the whole state.
struct ReplaySetting {
  const char* name;
  int64_t value;
};
std::vector<ReplaySetting> ReplaySettings(const ReplayConfig& config, const ReplayShape& shape);

// One row of "replay.segments".
struct SegmentRow {
  int64_t env, episode, first_step, num_steps, end, is_open;
};
inline constexpr int64_t kSegmentColumns = 6;
static_assert(sizeof(SegmentRow) == kSegmentColumns * sizeof(int64_t));

// Everything in `store`, as arrays named "replay.*". With S segments (finished ones from the oldest
// to the newest, then those being filled by environment), T transitions, R = T + S observations,
// F stacked frames and K leaves ever used:
//   settings I64 [15], exponent F64 [1]      what Import insists on
//   counters I64 [4], max_priority F64 [1]
//   segments I64 [S, 6]                      env, episode, first step, steps, SegmentEnd, is open
//   observations U8 or F32 [T + S F, obs / F], as it is stored: of each segment its first
//                                            observation, then the newest frame of the later ones
//   each of kStoredFields (stored_fields.h)  [T] or [R] rows, where the shape has columns for it
//   weights F64 [T]
//   generations U32 [K], free_leaves I32 [K - T]
// and the arrays of context_arrays.h. The large ones are in parts, which read `store`.
std::vector<NamedArray> ExportReplay(const ReplayConfig& config, const ReplayShape& shape,
                                     const ReplayStore& store);

}  // namespace lzero

#endif  // LZERO_REPLAY_SAVED_REPLAY_EXPORT_H_
