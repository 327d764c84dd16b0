// How deep a JSON text is nested, found before it is parsed: copying and printing a parsed value go
// down one call a level, which the depth of a hostile text would not survive. Not a parser. Pure.
#ifndef LZERO_ENV_JSON_DEPTH_H_
#define LZERO_ENV_JSON_DEPTH_H_

#include "absl/strings/string_view.h"

namespace lzero {

// More than any text of ours: traces and messages of workers.
inline constexpr int kMaxJsonDepth = 16;

// Whether more than `max_depth` lists and objects are open at once. Of broken JSON it may say
// either, but true for all that a parser could take as deep as that.
bool IsDeeperThan(absl::string_view json, int max_depth);

}  // namespace lzero

#endif  // LZERO_ENV_JSON_DEPTH_H_
