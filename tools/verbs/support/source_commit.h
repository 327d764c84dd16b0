// Which sources this program was built from.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_SOURCE_COMMIT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_SOURCE_COMMIT_H_

#include <string>

namespace lzero {

// Short commit id of the sources that this program was built from, "-dirty" behind it when they
// differed from it; "unknown" for sources without git.
std::string SourceCommit();

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_SOURCE_COMMIT_H_
