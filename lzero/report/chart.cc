#include "lzero/report/chart.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "lzero/base/check.h"
#include "lzero/report/html.h"

namespace lzero {
namespace {

constexpr int kLeft = 46, kRight = 12, kTop = 28, kBottom = 34;
constexpr size_t kNumColors = 8, kNumDashes = 3;

// Larger numbers have differences that are not finite.
bool CanBeDrawn(double value) { return std::abs(value) <= 1e300; }

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void Include(double value) {
    if (!CanBeDrawn(value)) return;
    low = std::min(low, value), high = std::max(high, value);
  }
  void Include(const std::vector<double>& values) {
    for (const double value : values) Include(value);
  }
  bool is_empty() const { return low > high; }
  // Never of no width.
  Range Widened(double share) const {
    if (high > low) return {low - share * (high - low), high + share * (high - low)};
    const double margin = low == 0.0 ? 1.0 : 0.05 * std::abs(low);
    return {low - margin, high + margin};
  }
};

// From numbers to places in the picture.
class Axes {
 public:
  Axes(const Chart& chart, Range x, Range y) : chart_(chart), x_(x), y_(y) {}

  double X(double value) const {
    return kLeft + (value - x_.low) / (x_.high - x_.low) * (chart_.width - kLeft - kRight);
  }
  double Y(double value) const {
    return kTop + (y_.high - value) / (y_.high - y_.low) * (chart_.height - kTop - kBottom);
  }
  std::string Point(double x, double y) const { return absl::StrFormat("%.1f,%.1f", X(x), Y(y)); }

  // Grid lines and numbers of both axes.
  std::string Text() const {
    std::string text;
    const int right = chart_.width - kRight, bottom = chart_.height - kBottom;
    for (const double value : Ticks(y_.low, y_.high, chart_.height / 38)) {
      const double y = Y(value);
      absl::StrAppendFormat(&text,
                            "<path class=\"grid\" d=\"M%d %.1fH%d\"/><text class=\"tick\" x=\"%d\" "
                            "y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                            kLeft, y, right, kLeft - 6, y + 3.5, TickText(value));
    }
    for (const double value : Ticks(x_.low, x_.high, chart_.width / 75)) {
      absl::StrAppendFormat(&text,
                            "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s"
                            "</text>\n",
                            X(value), bottom + 14, TickText(value));
    }
    absl::StrAppendFormat(&text, "<path class=\"axis\" d=\"M%d %dH%d\"/>\n", kLeft, bottom, right);
    absl::StrAppendFormat(&text,
                          "<text class=\"tick\" x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
                          right, bottom + 28, EscapeHtml(chart_.x_label));
    return text;
  }

 private:
  const Chart& chart_;
  Range x_, y_;
};

std::string LineText(const ChartLine& line, const Axes& axes) {
  std::string points;
  for (size_t i = 0; i < line.x.size(); ++i) {
    if (!CanBeDrawn(line.x[i]) || !CanBeDrawn(line.y[i])) continue;
    absl::StrAppend(&points, points.empty() ? "" : " ", axes.Point(line.x[i], line.y[i]));
  }
  if (points.empty()) return "";
  constexpr const char* kKinds[] = {"thin", "bold", "solo", "level"};
  const char* kind = kKinds[static_cast<size_t>(line.kind)];
  constexpr size_t kDense = 200;  // points, from which on a line is an area
  // A single point has no line: its round end is drawn.
  if (points.find(' ') == points.npos) points = absl::StrCat(points, " ", points);
  return absl::StrCat("<polyline class=\"", ColorClass(line.color), " ", kind,
                      line.x.size() > kDense ? " dense" : "", "\" points=\"", points, "\"><title>",
                      EscapeHtml(line.name), "</title></polyline>\n");
}

std::string BandText(const ChartBand& band, const Axes& axes) {
  std::vector<std::string> there, back;
  for (size_t i = 0; i < band.x.size(); ++i) {
    if (!CanBeDrawn(band.x[i]) || !CanBeDrawn(band.low[i]) || !CanBeDrawn(band.high[i])) continue;
    there.push_back(axes.Point(band.x[i], band.high[i]));
    back.push_back(axes.Point(band.x[i], band.low[i]));
  }
  there.insert(there.end(), back.rbegin(), back.rend());
  return absl::StrCat("<polygon class=\"", ColorClass(band.color), " band\" points=\"",
                      absl::StrJoin(there, " "), "\"/>\n");
}

std::string LevelText(const Chart& chart, const Axes& axes) {
  const int right = chart.width - kRight;
  // Its name stands beside the title, where no line runs.
  return absl::StrFormat(
      "<path class=\"level\" d=\"M%d %.1fH%d\"/><text x=\"%d\" y=\"15\" "
      "text-anchor=\"end\">- - %s</text>\n",
      kLeft, axes.Y(*chart.level), right, right, EscapeHtml(chart.level_name));
}

}  // namespace

std::string ColorClass(size_t color) {
  const size_t dash = color / kNumColors % kNumDashes;
  const std::string name = absl::StrCat("c", color % kNumColors);
  return dash == 0 ? name : absl::StrCat(name, " d", dash);
}

std::string DrawChart(const Chart& chart) {
  // Ranges.
  Range x, y;
  for (const ChartLine& line : chart.lines) x.Include(line.x), y.Include(line.y);
  for (const ChartBand& band : chart.bands) y.Include(band.low), y.Include(band.high);
  if (chart.level.has_value()) y.Include(*chart.level);
  if (chart.starts_at_zero) y.Include(0.0);
  std::string text = absl::StrFormat(
      "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">"
      "<text class=\"title\" x=\"%d\" y=\"15\">%s</text>\n",
      chart.width, chart.height, EscapeHtml(chart.title), 4, EscapeHtml(chart.title));
  if (x.is_empty() || y.is_empty()) {
    return absl::StrFormat("%s<text class=\"tick\" x=\"%d\" y=\"%d\">no values</text></svg>\n",
                           text, kLeft, chart.height / 2);
  }
  // From the back to the front.
  Range widened = y.Widened(0.05);
  if (chart.starts_at_zero && y.low == 0.0 && y.high > 0.0) widened.low = 0.0;
  const Axes axes(chart, x.low < x.high ? x : x.Widened(0.0), widened);
  text += axes.Text();
  for (const ChartBand& band : chart.bands) text += BandText(band, axes);
  for (const bool is_bold : {false, true}) {
    for (const ChartLine& line : chart.lines) {
      if ((line.kind == LineKind::kBold) == is_bold) text += LineText(line, axes);
    }
  }
  if (chart.level.has_value()) text += LevelText(chart, axes);
  return text + "</svg>\n";
}

std::vector<double> Ticks(double low, double high, int most) {
  LZ_CHECK(low < high, "ticks from ", low, " to ", high);
  const double width = high - low;
  const double unit = std::pow(10.0, std::floor(std::log10(width / std::max(most, 2))));
  double step = unit;
  for (const double factor : {1.0, 2.0, 2.5, 5.0, 10.0}) {
    step = unit * factor;
    if (width / step <= std::max(most, 2)) break;
  }
  std::vector<double> ticks;
  const auto first = static_cast<int64_t>(std::ceil(low / step - 1e-9));
  const auto last = static_cast<int64_t>(std::floor(high / step + 1e-9));
  for (int64_t i = first; i <= last; ++i) ticks.push_back(static_cast<double>(i) * step);
  return ticks;
}

std::string TickText(double value) {
  const double size = std::abs(value);
  if (size >= 1e12) return absl::StrFormat("%.3g", value);
  if (size >= 1e6) return absl::StrFormat("%.4gM", value / 1e6);
  if (size >= 1e3) return absl::StrFormat("%.4gk", value / 1e3);
  return absl::StrFormat("%.4g", value);
}

std::string DrawStrip(const std::vector<StripPart>& parts) {
  constexpr int kWidth = 900, kHeight = 26;
  std::string text = absl::StrFormat("<svg viewBox=\"0 0 %d %d\" role=\"img\">\n", kWidth, kHeight);
  double at = 0.0;
  for (const StripPart& part : parts) {
    const double width = part.share * kWidth;
    const std::string label =
        absl::StrFormat("%s %.0f %%", EscapeHtml(part.name), 100 * part.share);
    absl::StrAppendFormat(
        &text,
        "<rect class=\"%s part\" x=\"%.1f\" width=\"%.1f\" height=\"%d\"><title>%s"
        "</title></rect>",
        ColorClass(part.color), at, width, kHeight, label);
    if (width > 7.5 * static_cast<double>(part.name.size() + 5)) {
      absl::StrAppendFormat(&text, "<text class=\"inpart\" x=\"%.1f\" y=\"17\">%s</text>", at + 7,
                            label);
    }
    at += width;
  }
  return text + "</svg>\n";
}

}  // namespace lzero
