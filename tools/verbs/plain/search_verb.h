// `lzero search replay FILE...`: replays recorded searches and prints what differs.
#ifndef LZERO_TOOLS_VERBS_PLAIN_SEARCH_VERB_H_
#define LZERO_TOOLS_VERBS_PLAIN_SEARCH_VERB_H_

#include <string>
#include <vector>

namespace lzero {

// Prints one line a file, "ok  FILE  nodes N", or the differences as node, expected, got. Returns 0
// when every search was reproduced, 1 when one differs, 2 when a file cannot be read or its search
// cannot be run, or when there is no file.
int SearchReplay(const std::vector<std::string>& files);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_SEARCH_VERB_H_
