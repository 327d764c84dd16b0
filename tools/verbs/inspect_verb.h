// `lzero inspect`: what is in a checkpoint: counters, files, tensors; whether every file is intact.
#ifndef LZERO_TOOLS_VERBS_INSPECT_VERB_H_
#define LZERO_TOOLS_VERBS_INSPECT_VERB_H_

#include <string>

namespace lzero {

// `path`: a run folder (its latest checkpoint) or a checkpoint. Exit codes: 0 intact, 1 damaged,
// 2 not found.
int Inspect(const std::string& path);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_INSPECT_VERB_H_
