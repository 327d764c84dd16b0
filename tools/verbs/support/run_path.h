// Paths of runs as the user typed them, so that what is printed can be recognised and copied.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_RUN_PATH_H_
#define LZERO_TOOLS_VERBS_SUPPORT_RUN_PATH_H_

#include <string>

namespace lzero {

// The folder of the run that `path` names, as typed: of RUN/checkpoints/X it is RUN, of anything
// else `path` itself, both without slashes at the end. Absolute where what was typed does not hold
// the run's name (a link to a checkpoint, or a path from inside the run). Blocks on the disk.
std::string TypedRunFolder(const std::string& path);

// The checkpoint `folder` of the run that `path` names (see TypedRunFolder), as the user would type
// it; `folder` itself when it is no checkpoint of that run.
std::string TypedCheckpoint(const std::string& path, const std::string& folder);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_RUN_PATH_H_
