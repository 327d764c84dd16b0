#include "lzero/report/report_page.h"

#include <cmath>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/report/html.h"
#include "lzero/report/page_charts.h"
#include "lzero/report/page_tables.h"
#include "lzero/report/style_sheet.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

void AppendSection(const char* title, const std::string& body, std::string* page) {
  if (body.empty()) return;
  absl::StrAppend(page, "<section><h2>", title, "</h2>\n", body, "</section>\n");
}

void AppendCharts(const char* title, const std::string& figures, std::string* page) {
  if (!figures.empty()) {
    AppendSection(title, absl::StrCat("<div class=\"small\">", figures, "</div>\n"), page);
  }
}

// "cartpole: 2 groups, 11 runs".
std::string TitleOf(const ReportInput& input) {
  std::set<std::string> environments;
  size_t num_runs = 0;
  for (const RunGroup& group : input.runs.groups) {
    const ExperimentConfig& config = group.runs[0].config;
    environments.insert(config.tasks.empty() ? config.env.id : EnvironmentOf(config));
    num_runs += group.runs.size();
  }
  const size_t num_groups = input.runs.groups.size();
  const std::string groups =
      num_groups == 1 ? input.runs.groups[0].runs[0].name : absl::StrCat(num_groups, " groups");
  return absl::StrCat(absl::StrJoin(environments, ", "), ": ", groups, ", ", num_runs,
                      num_runs == 1 ? " run" : " runs");
}

// Six digits are more than a chart shows.
std::string NumbersJson(const std::vector<double>& values) {
  return absl::StrCat("[",
                      absl::StrJoin(values, ",",
                                    [](std::string* out, double value) {
                                      absl::StrAppend(out, std::isfinite(value)
                                                               ? absl::StrFormat("%.6g", value)
                                                               : std::string("null"));
                                    }),
                      "]");
}

}  // namespace

std::string SeriesJson(const ReportInput& input) {
  const auto text = [](const std::string& value) {
    return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  };
  std::vector<std::string> runs;
  for (size_t group = 0; group < input.metrics.size(); ++group) {
    for (size_t run = 0; run < input.metrics[group].size(); ++run) {
      std::vector<std::string> series;
      for (const auto& [name, one] : input.metrics[group][run]) {
        series.push_back(absl::StrCat(text(name), ":[", NumbersJson(one.env_steps), ",",
                                      NumbersJson(one.values), "]"));
      }
      runs.push_back(absl::StrCat("{\"path\":", text(input.runs.groups[group].runs[run].path),
                                  ",\"metrics\":{", absl::StrJoin(series, ","), "}}"));
    }
  }
  return absl::StrCat("[", absl::StrJoin(runs, ",\n"), "]");
}

std::string ReportPage(const ReportInput& input) {
  const std::string title = EscapeHtml(TitleOf(input));
  const bool has_groups = input.runs.groups.size() > 1;
  std::string page = absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n", kReportMark,
      "\n<title>", title,
      "</title>\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<style>",
      kStyleSheet, "</style></head>\n<body><main>\n<h1>", title,
      "</h1>\n<p class=\"note\">Report of lzero ", EscapeHtml(input.version), "</p>\n");
  page += Verdicts(input);
  page += Warnings(input);
  AppendSection("Return over env steps", ReturnCharts(input), &page);
  AppendCharts("Tasks", TaskCharts(input), &page);
  AppendSection("Final returns", ReturnTable(input), &page);
  if (has_groups) {
    AppendSection(
        "Groups compared",
        absl::StrCat(EnvironmentsOf(input.runs.groups).size() == 1 ? ProfileChart(input) : "",
                     PairTables(input)),
        &page);
  }
  AppendSection("Episodes", Pictures(input), &page);
  AppendSection("Where the time went", TimeStrips(input), &page);
  AppendCharts("Can values and imagination be trusted?", TrustCharts(input), &page);
  AppendCharts("Search, learning, replay, speed", LearningCharts(input), &page);
  AppendSection("Runs", RunTable(input), &page);
  AppendSection("Settings that differ from the defaults (in brackets)", Settings(input), &page);
  AppendSection("How to make these runs again", Commands(input), &page);
  absl::StrAppend(
      &page, "<footer>What a chart's number means: <code>", EscapeHtml(input.program),
      " metrics NAME</code>. The numbers of this page are in it as JSON: script elements "
      "<code>comparison</code> and <code>series</code>.</footer>\n</main>\n",
      "<script type=\"application/json\" id=\"comparison\">",
      ScriptJson(ComparisonJson(input.runs, input.comparison)), "</script>\n",
      "<script type=\"application/json\" id=\"series\">", ScriptJson(SeriesJson(input)),
      "</script>\n</body></html>\n");
  return page;
}

}  // namespace lzero
