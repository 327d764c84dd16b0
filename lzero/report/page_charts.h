// The charts of a report: returns, time shares, and a small chart for each metric that tells how a
// run went. Each function gives HTML. Pure functions.
#ifndef LZERO_REPORT_PAGE_CHARTS_H_
#define LZERO_REPORT_PAGE_CHARTS_H_

#include <string>

#include "absl/strings/string_view.h"
#include "lzero/report/report_input.h"

namespace lzero {

// Whether a report draws the metric.
bool IsChartedMetric(absl::string_view name);

// Evaluations with the curve of each group, then the returns of collected episodes.
std::string ReturnCharts(const ReportInput& input);

// With several tasks in a run: of each the score and the mean return of its evaluations, over the
// env steps of all.
std::string TaskCharts(const ReportInput& input);

// Where the time went, a strip a group; "" where no run tells.
std::string TimeStrips(const ReportInput& input);

// How often a run ended above a return: performance profiles of groups.
std::string ProfileChart(const ReportInput& input);

// Values against the returns that followed, errors of imagined steps, spread of latents.
std::string TrustCharts(const ReportInput& input);

// Search, losses, replay and speed.
std::string LearningCharts(const ReportInput& input);

}  // namespace lzero

#endif  // LZERO_REPORT_PAGE_CHARTS_H_
