#include "envs/classic/text_canvas.h"

#include <algorithm>
#include <cmath>

namespace lzero {

void TextCanvas::Put(Point at, char character) {
  const double x = std::round(at.x);
  const double y = std::round(at.y);
  if (!(y >= 0.0 && y < static_cast<double>(lines_.size()))) return;
  std::string& line = lines_[static_cast<size_t>(y)];
  if (!(x >= 0.0 && x < static_cast<double>(line.size()))) return;
  line[static_cast<size_t>(x)] = character;
}

void TextCanvas::Line(Point from, Point to, char character) {
  const double longest = std::max(std::fabs(to.x - from.x), std::fabs(to.y - from.y));
  const int num_parts = std::max(1, static_cast<int>(std::ceil(std::min(longest, 1000.0))));
  for (int i = 0; i <= num_parts; ++i) {
    const double share = static_cast<double>(i) / num_parts;
    Put({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)}, character);
  }
}

std::string TextCanvas::Text() const {
  std::string text;
  for (const std::string& line : lines_) {
    text.append(line, 0, line.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

}  // namespace lzero
