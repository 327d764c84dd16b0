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
#include "lzero/replay/observation_store.h"

namespace lzero {

// InvalidArgument "replay state: ..." with these parts.
template <typename... Parts>
absl::Status InvalidReplay(const Parts&... parts) {
  return absl::InvalidArgumentError(absl::StrCat("replay state: ", parts...));
}

// InvalidReplay unless there is an array of this name, type and shape, -1 standing for any length,
// and it holds as many bytes as that needs.
absl::Status CheckReplayArray(absl::Span<const NamedArray> arrays, const char* name, ArrayType type,
                              absl::Span<const int64_t> dims);

// The type of arrays of observation blocks as they are stored.
inline ArrayType BlockArrayType(const ObservationFormat& format) {
  return format.type == ObservationType::kUint8 ? ArrayType::kU8 : ArrayType::kF32;
}

// Copies an array that passes CheckReplayArray.
template <typename T>
absl::Status ReadReplayArray(absl::Span<const NamedArray> arrays, const char* name,
                             absl::Span<const int64_t> dims, std::vector<T>* values) {
  LZ_RETURN_IF_ERROR(CheckReplayArray(arrays, name, ArrayTypeOf<T>(), dims));
  LZ_ASSIGN_OR_RETURN(*values, ReadArray<T>(arrays, name));
  return absl::OkStatus();
}

// InvalidReplay unless all of `actions`, [n] int32, lie in 0 .. num_actions - 1.
absl::Status CheckReplayActions(const char* name, absl::Span<const int32_t> actions,
                                int64_t num_actions);

// InvalidReplay unless all of `values`, [n] float32, lie in [-1, 1].
absl::Status CheckReplayActionValues(const char* name, absl::Span<const float> values);

}  // namespace lzero

#endif  // LZERO_REPLAY_SAVED_REPLAY_ARRAYS_H_
