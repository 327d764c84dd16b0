// "Did you mean": the nearest of the allowed names, for error messages.
#ifndef LZERO_BASE_NEAREST_H_
#define LZERO_BASE_NEAREST_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// Number of single-character insertions, deletions, replacements and swaps of neighbours between
// the two (optimal string alignment distance).
int EditDistance(absl::string_view a, absl::string_view b);

// The name with the smallest distance, or "" when none is near (more than a third of the letters,
// at least two, differ) or `given` is longer than any name. The first of equals wins.
std::string NearestName(absl::string_view given, absl::Span<const std::string> names);

// "; did you mean 'x'?" or "", ready to be appended to a message.
std::string DidYouMean(absl::string_view given, absl::Span<const std::string> names);

}  // namespace lzero

#endif  // LZERO_BASE_NEAREST_H_
