// Episodes of a run played again as GIFs, for its report.
#ifndef LZERO_TOOLS_VERBS_REPORT_PICTURES_H_
#define LZERO_TOOLS_VERBS_REPORT_PICTURES_H_

#include <atomic>
#include <cstddef>

#include "lzero/report/report_input.h"
#include "lzero/results/run_group.h"

namespace lzero {

// The worst, the median and the best episode of an evaluation: that of the best checkpoint, of the
// run with the median final return. That checkpoint plays them again from their seeds, for
// `most_seconds` at most. A GIF takes at most `most_bytes`: of long episodes it skips steps.
// `problem` says why there is none, or fewer. Blocks; `stop` ends it early.
GroupPictures PlayPictures(const RunGroup& group, size_t most_bytes, double most_seconds,
                           const std::atomic<bool>* stop);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_REPORT_PICTURES_H_
