// Which sources this program was built from.
#ifndef LZERO_TOOLS_SOURCE_COMMIT_H_
#define LZERO_TOOLS_SOURCE_COMMIT_H_

#include <string>

namespace lzero {

// Short id of the commit that was checked out when the program was built, or "unknown".
std::string SourceCommit();

}  // namespace lzero

#endif  // LZERO_TOOLS_SOURCE_COMMIT_H_
