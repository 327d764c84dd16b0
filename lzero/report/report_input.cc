#include "lzero/report/report_input.h"

#include <algorithm>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/strip.h"
#include "lzero/base/status_macros.h"
#include "lzero/base/thread_pool.h"
#include "lzero/report/decimate.h"
#include "lzero/report/page_charts.h"

namespace lzero {
namespace {

constexpr int kWideColumns = 800, kColumns = 150;  // of returns; of all else

absl::StatusOr<RunMetrics> ReadDecimated(const std::string& run_dir) {
  auto metrics = ReadMetrics(run_dir, IsChartedMetric);
  if (absl::IsNotFound(metrics.status())) return RunMetrics();  // it has written none yet
  LZ_RETURN_IF_ERROR(metrics.status());
  for (auto& [name, series] : *metrics) {
    series = Decimate(series, absl::EndsWith(name, "/return_mean") ? kWideColumns : kColumns);
  }
  return metrics;
}

bool IsNamed(const std::string& path, absl::Span<const std::string> paths) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& typed) {
    return typed == path || absl::StripSuffix(typed, "/") == path;
  });
}

}  // namespace

absl::StatusOr<ReportInput> ReadReportInput(absl::Span<const std::string> paths, int num_threads) {
  ReportInput input;
  LZ_ASSIGN_OR_RETURN(CollectedRuns found, CollectRuns(paths, {true, true}));
  input.runs.skipped = std::move(found.skipped);
  // Read all metrics, whatever group they are of.
  std::vector<const RunRecord*> runs;
  for (const RunGroup& group : found.groups) {
    for (const RunRecord& run : group.runs) runs.push_back(&run);
  }
  std::vector<absl::StatusOr<RunMetrics>> metrics(runs.size());
  ThreadPool pool(num_threads);
  pool.Run(static_cast<int64_t>(runs.size()), [&](int64_t i) {
    metrics[static_cast<size_t>(i)] = ReadDecimated(runs[static_cast<size_t>(i)]->path);
  });
  // Keep the runs that could be read.
  size_t next = 0;
  for (RunGroup& group : found.groups) {
    RunGroup kept{group.label, {}, group.folder};
    std::vector<RunMetrics> kept_metrics;
    for (RunRecord& run : group.runs) {
      auto& read = metrics[next++];
      if (read.ok()) {
        kept_metrics.push_back(*std::move(read));
        kept.runs.push_back(std::move(run));
      } else if (IsNamed(run.path, paths)) {
        return read.status();
      } else {
        input.runs.skipped.push_back({run.path, std::string(read.status().message())});
      }
    }
    if (kept.runs.empty()) continue;
    input.runs.groups.push_back(std::move(kept));
    input.metrics.push_back(std::move(kept_metrics));
  }
  if (input.runs.groups.empty()) {
    return absl::InvalidArgumentError(input.runs.skipped.back().reason);
  }
  input.comparison = CompareGroups(input.runs.groups, std::nullopt);
  return input;
}

}  // namespace lzero
