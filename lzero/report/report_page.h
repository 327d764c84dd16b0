// The report as one HTML file: readable without network and without JavaScript, in light, dark and
// on paper. What it shows is in it as JSON too, in script elements "comparison" and "series". Pure
// functions.
#ifndef LZERO_REPORT_REPORT_PAGE_H_
#define LZERO_REPORT_REPORT_PAGE_H_

#include <string>

#include "lzero/report/report_input.h"

namespace lzero {

// Near the beginning of every report.
inline constexpr const char* kReportMark = "<meta name=\"generator\" content=\"lzero report\">";

std::string ReportPage(const ReportInput& input);

// The series that are drawn: a list with an object a run, its path and the env steps and values of
// each metric.
std::string SeriesJson(const ReportInput& input);

}  // namespace lzero

#endif  // LZERO_REPORT_REPORT_PAGE_H_
