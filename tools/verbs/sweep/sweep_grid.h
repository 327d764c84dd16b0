// The grid of a sweep: which settings take several values, and every combination of them. Pure
// functions; whether the settings are right is for the config to say.
#ifndef LZERO_TOOLS_VERBS_SWEEP_SWEEP_GRID_H_
#define LZERO_TOOLS_VERBS_SWEEP_SWEEP_GRID_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// A setting with at least two values.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
  bool operator==(const SweepAxis&) const = default;
};

struct SweepGrid {
  std::vector<std::string> fixed;  // "key=value", the same in every run
  std::vector<SweepAxis> axes;
};

// Takes words "key=value" and "key=a,b,c" apart. A comma inside brackets or quotes belongs to a
// value; quotes around a value are left out. Words without "=" are fixed ones. InvalidArgument for
// an empty value, a value that stands twice, and a seed, which is no setting of a sweep.
absl::StatusOr<SweepGrid> ParseSweepGrid(absl::Span<const std::string> words);

// One combination: a value of each axis.
struct SweepCell {
  std::string name;                    // "a.b=1,c.d=x"; "runs" where there is no axis
  std::vector<std::string> overrides;  // "key=value" of the axes
};

// All combinations, the last axis fastest. Names differ, and each is safe as a file name. The
// caller limits their number.
std::vector<SweepCell> SweepCells(absl::Span<const SweepAxis> axes);

// `text` as the name of a file: letters, digits and "._-=,", at most 200 bytes.
std::string SafeFileName(absl::string_view text);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_SWEEP_GRID_H_
