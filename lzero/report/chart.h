// Line charts as SVG: axes with round ticks, bands, a dashed level. Colors are numbers that the
// page's style sheet turns into ones for light and dark, from 8 on with dashed and then dotted
// lines. Pure functions.
#ifndef LZERO_REPORT_CHART_H_
#define LZERO_REPORT_CHART_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace lzero {

// One of many seeds, a group's, the only one, a dashed one to compare with.
enum class LineKind { kThin, kBold, kSolo, kGuide };

// The points [n] of a line. Points that are not finite, or beyond 1e300, are left out.
struct ChartLine {
  std::string name;  // shown where the pointer rests
  size_t color = 0;
  LineKind kind = LineKind::kSolo;
  std::vector<double> x, y;
};

// The area between two lines [n].
struct ChartBand {
  size_t color = 0;
  std::vector<double> x, low, high;
};

struct Chart {
  std::string title, x_label;
  int width = 300, height = 190;
  std::vector<ChartLine> lines;
  std::vector<ChartBand> bands;
  std::optional<double> level;  // a dashed line, part of the range
  std::string level_name = {};
  bool starts_at_zero = false;  // of the y axis
};

// The classes of a color in the style sheet: "c3", dashed "c3 d1", dotted "c3 d2"; repeats from 24
// on.
std::string ColorClass(size_t color);

// An svg element, as wide as its place on the page.
std::string DrawChart(const Chart& chart);

// Round numbers in [low, high], about `most` of them, at least two; low < high.
std::vector<double> Ticks(double low, double high, int most);

// 1500 -> "1.5k", 2500000 -> "2.5M", 0.25 -> "0.25".
std::string TickText(double value);

// One bar of parts that are shares of a whole.
struct StripPart {
  std::string name;
  double share = 0.0;  // 0 .. 1
  size_t color = 0;
};
std::string DrawStrip(const std::vector<StripPart>& parts);

}  // namespace lzero

#endif  // LZERO_REPORT_CHART_H_
