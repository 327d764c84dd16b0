// Draws simple shapes on an Image: what native environments and plugins need to show themselves.
// Not a picture file (base/picture/picture_file.h). Coordinates are pixels, (0, 0) is the top left
// corner, y grows downward; what lies outside the image is cut off. Used by one thread at a time.
#ifndef LZERO_ENVS_SUPPORT_CANVAS_H_
#define LZERO_ENVS_SUPPORT_CANVAS_H_

#include <vector>

#include "absl/strings/string_view.h"
#include "lzero/base/picture/image.h"

namespace lzero {

struct Point {
  double x = 0.0, y = 0.0;
};

class Canvas {
 public:
  // `image` outlives the canvas.
  explicit Canvas(Image* image) : image_(*image) {}

  // Pixels whose centre lies inside the rectangle from (left, top), `width` and `height` large.
  void FillRectangle(double left, double top, double width, double height, Color color);
  void FillCircle(Point center, double radius, Color color);
  // The inside of a convex or concave polygon, by the even-odd rule.
  void FillPolygon(const std::vector<Point>& corners, Color color);
  // A straight line `thickness` wide, at least one pixel, with square ends.
  void Line(Point from, Point to, double thickness, Color color);
  // Capital letters, digits, ".,:-+*/()#" and blanks in a font of 5 x 7 pixels, each `scale` large;
  // small letters are drawn as capitals, anything else as a box. (left, top) of the first letter.
  void Text(int left, int top, int scale, absl::string_view text, Color color);
  // Width in pixels of what Text draws.
  static int TextWidth(int scale, absl::string_view text);

 private:
  Image& image_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_SUPPORT_CANVAS_H_
