// Runs of one experiment put together: those with the same config but for the seed. What cannot be
// used is named, never left out in silence. Blocks on the disk; thread-safe.
#ifndef LZERO_RESULTS_RUN_GROUP_H_
#define LZERO_RESULTS_RUN_GROUP_H_

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/config/dump.h"
#include "lzero/results/run_record.h"

namespace lzero {

struct RunGroup {
  std::string label;            // the argument it is from, and the settings that tell it apart
  std::vector<RunRecord> runs;  // at least one; by seed, each seed once
  std::string folder = {};      // the argument; "" for runs that were named themselves
};

struct SkippedRun {
  std::string path;
  std::string reason;
};

struct CollectedRuns {
  std::vector<RunGroup> groups;
  std::vector<SkippedRun> skipped;  // found in a folder, but of no use
};

struct CollectOptions {
  bool take_unfinished = false;  // runs that are running, interrupted, failed or stopped
  bool take_unevaluated = false;
};

// The groups of `paths`: run folders, and folders with run folders in them at any depth. The runs
// of one folder form a group for each config; run folders that are named themselves form one for
// each config and commit. A run that is damaged, unfinished, without evaluation, or older than one
// with its seed is skipped; FailedPrecondition or the reader's error when it was named itself.
// InvalidArgument for a folder without runs and when nothing is left.
absl::StatusOr<CollectedRuns> CollectRuns(absl::Span<const std::string> paths,
                                          const CollectOptions& options);

// What the groups play (EnvironmentOf), each once.
std::set<std::string> EnvironmentsOf(absl::Span<const RunGroup> groups);

// The settings in which two groups differ, without the seed.
std::vector<ConfigDifference> DiffGroups(const RunGroup& a, const RunGroup& b);

}  // namespace lzero

#endif  // LZERO_RESULTS_RUN_GROUP_H_
