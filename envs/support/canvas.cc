#include "envs/support/canvas.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>

namespace lzero {
namespace {

constexpr int kGlyphWidth = 5;
constexpr int kGlyphHeight = 7;
constexpr int kAdvance = kGlyphWidth + 1;

struct Glyph {
  char character;
  std::array<uint8_t, kGlyphHeight> rows;  // bit 4 is the left column
};

constexpr Glyph kGlyphs[] = {
    {' ', {0, 0, 0, 0, 0, 0, 0}},        {'0', {14, 17, 19, 21, 25, 17, 14}},
    {'1', {4, 12, 4, 4, 4, 4, 14}},      {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {31, 2, 4, 2, 1, 17, 14}},     {'4', {2, 6, 10, 18, 31, 2, 2}},
    {'5', {31, 16, 30, 1, 1, 17, 14}},   {'6', {6, 8, 16, 30, 17, 17, 14}},
    {'7', {31, 1, 2, 4, 8, 8, 8}},       {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'A', {14, 17, 17, 31, 17, 17, 17}},
    {'B', {30, 17, 17, 30, 17, 17, 30}}, {'C', {14, 17, 16, 16, 16, 17, 14}},
    {'D', {28, 18, 17, 17, 17, 18, 28}}, {'E', {31, 16, 16, 30, 16, 16, 31}},
    {'F', {31, 16, 16, 30, 16, 16, 16}}, {'G', {14, 17, 16, 23, 17, 17, 15}},
    {'H', {17, 17, 17, 31, 17, 17, 17}}, {'I', {14, 4, 4, 4, 4, 4, 14}},
    {'J', {7, 2, 2, 2, 2, 18, 12}},      {'K', {17, 18, 20, 24, 20, 18, 17}},
    {'L', {16, 16, 16, 16, 16, 16, 31}}, {'M', {17, 27, 21, 21, 17, 17, 17}},
    {'N', {17, 17, 25, 21, 19, 17, 17}}, {'O', {14, 17, 17, 17, 17, 17, 14}},
    {'P', {30, 17, 17, 30, 16, 16, 16}}, {'Q', {14, 17, 17, 17, 21, 18, 13}},
    {'R', {30, 17, 17, 30, 20, 18, 17}}, {'S', {15, 16, 16, 14, 1, 1, 30}},
    {'T', {31, 4, 4, 4, 4, 4, 4}},       {'U', {17, 17, 17, 17, 17, 17, 14}},
    {'V', {17, 17, 17, 17, 17, 10, 4}},  {'W', {17, 17, 17, 21, 21, 21, 10}},
    {'X', {17, 17, 10, 4, 10, 17, 17}},  {'Y', {17, 17, 17, 10, 4, 4, 4}},
    {'Z', {31, 1, 2, 4, 8, 16, 31}},     {'.', {0, 0, 0, 0, 0, 12, 12}},
    {',', {0, 0, 0, 0, 12, 4, 8}},       {':', {0, 12, 12, 0, 12, 12, 0}},
    {'/', {0, 1, 2, 4, 8, 16, 0}},       {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'*', {0, 4, 21, 14, 21, 4, 0}},
    {'(', {2, 4, 8, 8, 8, 4, 2}},        {')', {8, 4, 2, 2, 2, 4, 8}},
    {'#', {10, 10, 31, 10, 31, 10, 10}},
};
constexpr std::array<uint8_t, kGlyphHeight> kBox = {31, 17, 17, 17, 17, 17, 31};

const std::array<uint8_t, kGlyphHeight>& RowsOf(char character) {
  const char capital = static_cast<char>(std::toupper(static_cast<unsigned char>(character)));
  for (const Glyph& glyph : kGlyphs) {
    if (glyph.character == capital) return glyph.rows;
  }
  return kBox;
}

// The pixels whose centres lie in [low, high), cut to 0 .. size - 1: first, and one past the last.
std::array<int, 2> PixelRange(double low, double high, int size) {
  const double limit = size;
  const double first = std::clamp(std::ceil(low - 0.5), 0.0, limit);
  const double end = std::clamp(std::ceil(high - 0.5), first, limit);
  return {static_cast<int>(first), static_cast<int>(end)};
}

}  // namespace

void Canvas::FillRectangle(double left, double top, double width, double height, Color color) {
  const auto [x_begin, x_end] = PixelRange(left, left + width, image_.width);
  const auto [y_begin, y_end] = PixelRange(top, top + height, image_.height);
  for (int y = y_begin; y < y_end; ++y) {
    for (int x = x_begin; x < x_end; ++x) image_.set(x, y, color);
  }
}

void Canvas::FillCircle(Point center, double radius, Color color) {
  const auto [y_begin, y_end] = PixelRange(center.y - radius, center.y + radius, image_.height);
  for (int y = y_begin; y < y_end; ++y) {
    const double dy = y + 0.5 - center.y;
    const double half = std::sqrt(std::max(0.0, radius * radius - dy * dy));
    const auto [x_begin, x_end] = PixelRange(center.x - half, center.x + half, image_.width);
    for (int x = x_begin; x < x_end; ++x) image_.set(x, y, color);
  }
}

void Canvas::FillPolygon(const std::vector<Point>& corners, Color color) {
  if (corners.size() < 3) return;
  double top = corners[0].y, bottom = corners[0].y;
  for (const Point& corner : corners) {
    top = std::min(top, corner.y);
    bottom = std::max(bottom, corner.y);
  }
  const auto [y_begin, y_end] = PixelRange(top, bottom, image_.height);
  std::vector<double> crossings;
  for (int y = y_begin; y < y_end; ++y) {
    const double middle = y + 0.5;
    crossings.clear();
    for (size_t i = 0; i < corners.size(); ++i) {
      const Point& a = corners[i];
      const Point& b = corners[(i + 1) % corners.size()];
      if ((a.y <= middle) == (b.y <= middle)) continue;
      crossings.push_back(a.x + (middle - a.y) / (b.y - a.y) * (b.x - a.x));
    }
    std::sort(crossings.begin(), crossings.end());
    for (size_t i = 0; i + 1 < crossings.size(); i += 2) {
      const auto [x_begin, x_end] = PixelRange(crossings[i], crossings[i + 1], image_.width);
      for (int x = x_begin; x < x_end; ++x) image_.set(x, y, color);
    }
  }
}

void Canvas::Line(Point from, Point to, double thickness, Color color) {
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const double width = std::max(1.0, thickness);
  if (length == 0.0) {
    FillRectangle(from.x - width / 2, from.y - width / 2, width, width, color);
    return;
  }
  const double across_x = -(to.y - from.y) / length * width / 2;
  const double across_y = (to.x - from.x) / length * width / 2;
  FillPolygon({{from.x + across_x, from.y + across_y},
               {to.x + across_x, to.y + across_y},
               {to.x - across_x, to.y - across_y},
               {from.x - across_x, from.y - across_y}},
              color);
}

void Canvas::Text(int left, int top, int scale, absl::string_view text, Color color) {
  for (size_t i = 0; i < text.size(); ++i) {
    const auto& rows = RowsOf(text[i]);
    const int x = left + static_cast<int>(i) * kAdvance * scale;
    for (int row = 0; row < kGlyphHeight; ++row) {
      for (int column = 0; column < kGlyphWidth; ++column) {
        if ((rows[row] >> (kGlyphWidth - 1 - column) & 1) == 0) continue;
        FillRectangle(x + column * scale, top + row * scale, scale, scale, color);
      }
    }
  }
}

int Canvas::TextWidth(int scale, absl::string_view text) {
  return text.empty() ? 0 : (static_cast<int>(text.size()) * kAdvance - 1) * scale;
}

}  // namespace lzero
