// The curve of a group of runs: what its evaluations gave, over env steps. Pure functions.
#ifndef LZERO_REPORT_GROUP_CURVE_H_
#define LZERO_REPORT_GROUP_CURVE_H_

#include <vector>

#include "absl/types/span.h"
#include "lzero/results/run_group.h"

namespace lzero {

// Interquartile mean over the runs at env steps [n], and its 95 % interval [n], which fewer than
// five runs do not have. Each run is linear between its evaluations. One that ended because it was
// solved is held at its last return; where another one has ended, so has the curve. Empty for a
// group of one run, or where the runs have no common stretch.
struct GroupCurve {
  std::vector<double> env_steps, value, low, high;
};

GroupCurve CurveOf(const RunGroup& group);

}  // namespace lzero

#endif  // LZERO_REPORT_GROUP_CURVE_H_
