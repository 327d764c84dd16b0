#include "tools/source_commit.h"

namespace lzero {

std::string SourceCommit() { return LZERO_COMMIT; }

}  // namespace lzero
