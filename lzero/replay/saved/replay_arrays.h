// How the replay floor reads the named arrays of a checkpoint: what is missing, misshapen or wrong
// becomes one kind of error. Pure functions, any thread.
#ifndef LZERO_REPLAY_SAVED_REPLAY_ARRAYS_H_
#define LZERO_REPLAY_SAVED_REPLAY_ARRAYS_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "lzero/base/named_array.h"
#include "lzero/base/status_macros.h"
#include "lzero/replay/game_segment.h"

namespace lzero {

// InvalidArgument "replay state: ..." with these parts.
template <typename... Parts>
absl::Status InvalidReplay(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("replay state: ", parts...));
}

// The bytes of an array. InvalidReplay unless there is one of this name, type and shape, -1
// standing for any length, and it holds as many bytes as that needs.
absl::StatusOr<absl::string_view> ReplayBytes(absl::Span<const NamedArray> arrays, const char* name,
                                              ArrayType type, absl::Span<const int64_t> dims);

// The type of arrays of observation blocks as they are stored.
inline ArrayType BlockArrayType(const ObservationFormat& format) {
  return format.type == ObservationType::kUint8 ? ArrayType::kU8 : ArrayType::kF32;
}

// Segments in the order of a checkpoint.
using StoredSegments = std::vector<const GameSegment*>;

// An array in parts: the bytes that part(segment) views, segment after segment. This function
// counts the first axis of `shape`.
template <typename Part>
NamedArray InParts(const char* name, ArrayType type, std::vector<int64_t> shape,
                   const StoredSegments& segments, const Part& part) {
  NamedArray array{name, type, std::move(shape), {}};
  array.shape[0] = 1;
  const int64_t row_bytes = array.num_elements() * ArrayTypeSize(type);
  int64_t bytes = 0;
  for (const GameSegment* segment : segments) bytes += static_cast<int64_t>(part(*segment).size());
  array.shape[0] = bytes / row_bytes;
  array.parts = [segments, part](const ByteSink& sink) {
    for (const GameSegment* segment : segments) sink(part(*segment));
  };
  return array;
}

// Copies an array that passes ReplayBytes.
template <typename T>
absl::Status ReadReplayArray(absl::Span<const NamedArray> arrays, const char* name,
                             absl::Span<const int64_t> dims, std::vector<T>* values) {
  LZ_RETURN_IF_ERROR(ReplayBytes(arrays, name, ArrayTypeOf<T>(), dims).status());
  LZ_ASSIGN_OR_RETURN(*values, ReadArray<T>(arrays, name));
  return absl::OkStatus();
}

// InvalidReplay unless all of `values`, [n], lie in low .. high; no NaN does.
template <typename T>
absl::Status CheckReplayRange(const char* name, absl::Span<const T> values, T low, T high) {
  for (const T value : values) {
    if (value >= low && value <= high) continue;
    return InvalidReplay("array '", name, "' holds ", value, ", allowed are ", low, " to ", high);
  }
  return absl::OkStatus();
}

}  // namespace lzero

#endif  // LZERO_REPLAY_SAVED_REPLAY_ARRAYS_H_
