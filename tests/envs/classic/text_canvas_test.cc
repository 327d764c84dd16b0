#include "envs/classic/text_canvas.h"

#include <gtest/gtest.h>

#include <limits>

namespace lzero::text_canvas_test {
namespace {

TEST(TextCanvasTest, StartsEmpty) { EXPECT_EQ(TextCanvas(4, 2).Text(), "\n\n"); }

TEST(TextCanvasTest, PutsIntoTheNearestCharacterAndCutsOffTheRest) {
  TextCanvas canvas(3, 2);
  canvas.Put({0.4, 0.0}, 'a');
  canvas.Put({1.6, 1.4}, 'b');
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Point outside : {Point{-1.0, 0.0},
                              {3.0, 0.0},
                              {0.0, 2.0},
                              {0.0, -0.6},
                              {1e300, 0.0},
                              {nan, 0.0},
                              {0, nan}}) {
    canvas.Put(outside, 'x');
  }
  EXPECT_EQ(canvas.Text(), "a\n  b\n");
}

TEST(TextCanvasTest, DrawsLinesWithBothEnds) {
  TextCanvas canvas(4, 2);
  canvas.Line({0.0, 0.0}, {3.0, 1.0}, '*');
  EXPECT_EQ(canvas.Text(), "**\n  **\n");
  TextCanvas steep(3, 4);
  steep.Line({1.0, 3.0}, {1.0, 1.0}, '|');
  steep.Line({2.0, 0.0}, {2.0, 0.0}, '.');
  EXPECT_EQ(steep.Text(), "  .\n |\n |\n |\n");
}

TEST(TextCanvasTest, CutsOffLongLines) {
  TextCanvas canvas(4, 1);
  canvas.Line({-100.0, 0.0}, {100.0, 0.0}, '-');
  EXPECT_EQ(canvas.Text(), "----\n");
}

}  // namespace
}  // namespace lzero::text_canvas_test
