// The whole page: complete, and closed in itself.
#include "lzero/report/report_page.h"

#include <cmath>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace lzero::report_page_test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

ReportInput InputOf() {
  ReportInput input;
  RunRecord run;
  run.path = "runs/</script><b>";
  run.name = "<img src=x>";
  run.state = "finished";
  run.evaluations = {{100, 8, 1.0, ""}};
  input.runs.groups = {{run.path, {run}}};
  input.metrics = {{{{"loss/total", {{100, 200}, {1.25, NAN}}}}}};
  input.comparison = CompareGroups(input.runs.groups, std::nullopt);
  return input;
}

TEST(ReportPageTest, NothingFromFilesBecomesMarkup) {
  const std::string page = ReportPage(InputOf());
  EXPECT_EQ(page.find("<b>\""), page.npos);
  EXPECT_THAT(page, Not(HasSubstr("<img")));
  EXPECT_THAT(page, HasSubstr("cartpole: &lt;img src=x&gt;, 1 run</title>"));
  EXPECT_LT(page.find(kReportMark), 400u);
  EXPECT_THAT(page, Not(HasSubstr("Groups compared")));
}

TEST(ReportPageTest, TheSeriesCanBeReadBack) {
  const auto json = nlohmann::json::parse(SeriesJson(InputOf()));
  EXPECT_EQ(json[0]["path"], "runs/</script><b>");
  EXPECT_EQ(json[0]["metrics"]["loss/total"][0][1], 200);
  EXPECT_EQ(json[0]["metrics"]["loss/total"][1][0], 1.25);
  EXPECT_TRUE(json[0]["metrics"]["loss/total"][1][1].is_null());
}

}  // namespace
}  // namespace lzero::report_page_test
