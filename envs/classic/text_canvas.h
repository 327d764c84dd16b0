// A picture in characters: a grid of blanks into which dots and lines are put, for RenderText. Not
// for pixels (envs/support/canvas.h). Coordinates are characters, (0, 0) is the top left one, y
// grows downward; what lies outside is cut off. Used by one thread at a time.
#ifndef LZERO_ENVS_CLASSIC_TEXT_CANVAS_H_
#define LZERO_ENVS_CLASSIC_TEXT_CANVAS_H_

#include <string>
#include <vector>

#include "envs/support/canvas.h"

namespace lzero {

class TextCanvas {
 public:
  TextCanvas(int width, int height) : lines_(height, std::string(width, ' ')) {}

  // Into the character whose middle is nearest to `at`; far away and not a number are outside.
  void Put(Point at, char character);
  // Every character that the straight line comes through, both ends among them.
  void Line(Point from, Point to, char character);

  // The lines without blanks at their ends, each with '\n'.
  std::string Text() const;

 private:
  std::vector<std::string> lines_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_CLASSIC_TEXT_CANVAS_H_
