// What is drawn lies where it belongs: places worked out by hand.
#include "lzero/report/chart.h"

#include <cmath>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace lzero::chart_test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

// The plot of a chart of 158 x 162 is 100 x 100 from (46, 28).
Chart SmallChart() {
  Chart chart;
  chart.title = "a < b";
  chart.width = 158, chart.height = 162;
  chart.starts_at_zero = true;
  return chart;
}

TEST(ChartTest, PointsLieWhereTheyBelong) {
  Chart chart = SmallChart();
  chart.lines.push_back({"seed <1>", 1, LineKind::kThin, {0, 5, 7, 10}, {0, 50, NAN, 100}});
  // From 0 to 100 with 5 % above: 105 is at the top. 50 lies at 28 + 55 / 105 * 100.
  const std::string svg = DrawChart(chart);
  EXPECT_THAT(svg, HasSubstr("<polyline class=\"c1 thin\" points=\"46.0,128.0 96.0,80.4 "
                             "146.0,32.8\"><title>seed &lt;1&gt;</title>"));
  EXPECT_THAT(svg, HasSubstr(">a &lt; b</text>"));
}

TEST(ChartTest, BandsGoForthAndBack) {
  Chart chart = SmallChart();
  chart.lines.push_back({"", 0, LineKind::kBold, {0, 10}, {50, 50}});
  chart.bands.push_back({0, {0, 10}, {0, 0}, {100, 100}});
  EXPECT_THAT(DrawChart(chart),
              HasSubstr("<polygon class=\"c0 band\" points=\"46.0,32.8 146.0,32.8 "
                        "146.0,128.0 46.0,128.0\"/>"));
}

TEST(ChartTest, TheLevelIsPartOfTheRange) {
  Chart chart = SmallChart();
  chart.lines.push_back({"", 0, LineKind::kSolo, {0, 10}, {0, 10}});
  chart.level = 100.0, chart.level_name = "target 100";
  EXPECT_THAT(DrawChart(chart), HasSubstr("d=\"M46 32.8H146\""));
  EXPECT_THAT(DrawChart(chart), HasSubstr("y=\"15\" text-anchor=\"end\">- - target 100</text>"));
}

TEST(ChartTest, OddInputIsDrawn) {
  EXPECT_THAT(DrawChart(SmallChart()), HasSubstr("no values"));
  Chart chart = SmallChart();
  chart.starts_at_zero = false;
  chart.lines.push_back({"", 0, LineKind::kSolo, {3}, {7}});  // one point in the middle
  EXPECT_THAT(DrawChart(chart), HasSubstr("points=\"96.0,78.0 96.0,78.0\""));
  EXPECT_THAT(DrawChart(chart), Not(HasSubstr("nan")));
  chart.lines[0] = {"", 0, LineKind::kSolo, {1, 2, 3, 4}, {-1e300, 1e300, 1e308, -1e308}};
  chart.bands = {{0, {1, 2}, {-1e308, 1}, {1e308, INFINITY}}};
  EXPECT_THAT(DrawChart(chart), AllOf(Not(HasSubstr("nan")), Not(HasSubstr("inf"))));
  EXPECT_THAT(DrawChart(chart), HasSubstr("points=\"46.0,123.5 79.3,32.5\""));
  chart.bands.clear();
  chart.lines[0] = {"", 0, LineKind::kSolo, {1, 2}, {NAN, INFINITY}};
  EXPECT_THAT(DrawChart(chart), HasSubstr("no values"));
}

TEST(ChartTest, ColorsRepeatWithOtherDashes) {
  EXPECT_EQ(ColorClass(7), "c7");
  EXPECT_EQ(ColorClass(8), "c0 d1");
  EXPECT_EQ(ColorClass(23), "c7 d2");
  EXPECT_EQ(ColorClass(24), "c0");
}

TEST(ChartTest, TicksAreRoundAndWithin) {
  EXPECT_THAT(Ticks(0, 200, 5), ElementsAre(0, 50, 100, 150, 200));
  EXPECT_THAT(Ticks(-1200, -100, 5), ElementsAre(-1000, -750, -500, -250));
  EXPECT_THAT(Ticks(600, 15000, 5), ElementsAre(5000, 10000, 15000));
  for (const auto& [low, high] :
       std::vector<std::pair<double, double>>{{0, 1}, {0, 68512}, {-2.3, 94}, {1e-4, 3e-4}}) {
    const std::vector<double> ticks = Ticks(low, high, 4);
    EXPECT_GE(ticks.size(), 2u) << high;
    EXPECT_LE(ticks.size(), 5u) << high;
    EXPECT_GE(ticks.front(), low - 1e-9);
    EXPECT_LE(ticks.back(), high + 1e-9);
  }
  EXPECT_EQ(TickText(1500), "1.5k");
  EXPECT_EQ(TickText(-2500000), "-2.5M");
  EXPECT_EQ(TickText(0.25), "0.25");
  EXPECT_EQ(TickText(-5e299), "-5e+299");
}

TEST(ChartTest, PartsOfAStripFillIt) {
  const std::string svg = DrawStrip({{"learn", 0.75, 0}, {"copy", 0.25, 1}});
  EXPECT_THAT(svg, HasSubstr("x=\"0.0\" width=\"675.0\""));
  EXPECT_THAT(svg, HasSubstr("x=\"675.0\" width=\"225.0\""));
  EXPECT_THAT(svg, HasSubstr("learn 75 %"));
}

}  // namespace
}  // namespace lzero::chart_test
