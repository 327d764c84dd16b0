// What keys of our configs are called in other programs (LightZero, Stable-Baselines3, CleanRL), so
// that a newcomer's name is answered with ours. A table and its look-up; thread-safe.
#ifndef LZERO_CONFIG_SYNONYMS_H_
#define LZERO_CONFIG_SYNONYMS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace lzero {

// A key and its other names, separated by spaces; or names without a key and what to say of them.
struct Synonyms {
  const char* key;  // "" where there is none
  const char* names;
  const char* remark = "";  // a clause: in what ours differs, or why there is none
};

absl::Span<const Synonyms> AllSynonyms();

// The entry that has the last part of `path` ("lr" of "optimizer.lr") as a name; null when none
// has. Large letters and '-' are read as small ones and '_'.
const Synonyms* FindSynonym(absl::string_view path);

}  // namespace lzero

#endif  // LZERO_CONFIG_SYNONYMS_H_
