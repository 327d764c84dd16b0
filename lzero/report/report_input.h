// All that a report is made of, read from run folders. Blocks on the disk.
#ifndef LZERO_REPORT_REPORT_INPUT_H_
#define LZERO_REPORT_REPORT_INPUT_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/results/group_summary.h"
#include "lzero/results/metrics_reader.h"
#include "lzero/results/run_group.h"

namespace lzero {

// An episode played again, as a GIF.
struct EpisodePicture {
  std::string caption;
  std::string gif;  // bytes of the file
};

struct GroupPictures {
  std::string source;   // whose agent plays
  std::string problem;  // why there is none; ""
  std::vector<EpisodePicture> episodes;
};

struct ReportInput {
  CollectedRuns runs;
  Comparison comparison;
  std::vector<std::vector<RunMetrics>> metrics;  // a group, a run; with few enough points to draw
  std::vector<GroupPictures> pictures;           // a group; empty: not asked for
  std::string program;                           // what the user types to run lzero
  std::string version;                           // of the program that writes the report
};

// Reads the runs of `paths` (CollectRuns, unfinished ones and those without evaluation as well) and
// their metrics, `num_threads` runs at a time. A run with damaged metrics is skipped; when it was
// named itself, its error, "path:line: ...", is returned.
absl::StatusOr<ReportInput> ReadReportInput(absl::Span<const std::string> paths, int num_threads);

}  // namespace lzero

#endif  // LZERO_REPORT_REPORT_INPUT_H_
