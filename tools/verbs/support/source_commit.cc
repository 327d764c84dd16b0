#include "tools/verbs/support/source_commit.h"

#include "generated/commit_id.h"  // written by the build: LZERO_COMMIT

namespace lzero {

std::string SourceCommit() { return LZERO_COMMIT; }

}  // namespace lzero
