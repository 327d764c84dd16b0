#include "envs/support/canvas.h"

#include <string>

#include "gtest/gtest.h"

namespace lzero::canvas_test {
namespace {

constexpr Color kInk = {255, 0, 7};

// '#' where the ink is, '.' elsewhere.
std::string Picture(const Image& image) {
  std::string text;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) text += image.at(x, y) == kInk ? '#' : '.';
    text += '\n';
  }
  return text;
}

template <typename Draw>
std::string Drawn(int width, int height, Draw draw) {
  Image image(width, height);
  Canvas canvas(&image);
  draw(canvas);
  return Picture(image);
}

TEST(CanvasTest, FillsTheRectangleAndNothingBesideIt) {
  EXPECT_EQ(Drawn(4, 3, [](Canvas& canvas) { canvas.FillRectangle(1, 0, 2, 2, kInk); }),
            ".##.\n"
            ".##.\n"
            "....\n");
}

TEST(CanvasTest, CutsShapesOffAtTheEdge) {
  EXPECT_EQ(Drawn(3, 2, [](Canvas& canvas) { canvas.FillRectangle(-5, -5, 7, 6, kInk); }),
            "##.\n"
            "...\n");
  EXPECT_EQ(Drawn(3, 2,
                  [](Canvas& canvas) {
                    canvas.FillCircle({1e9, -1e9}, 5, kInk);
                  }),
            "...\n"
            "...\n");
  EXPECT_EQ(Drawn(2, 2,
                  [](Canvas& canvas) {
                    canvas.Line({-9, 0.5}, {9, 0.5}, 1, kInk);
                  }),
            "##\n"
            "..\n");
}

TEST(CanvasTest, FillsACircle) {
  EXPECT_EQ(Drawn(6, 6,
                  [](Canvas& canvas) {
                    canvas.FillCircle({3, 3}, 2.0, kInk);
                  }),
            "......\n"
            "..##..\n"
            ".####.\n"
            ".####.\n"
            "..##..\n"
            "......\n");
}

TEST(CanvasTest, FillsPolygonsByTheEvenOddRule) {
  EXPECT_EQ(Drawn(6, 3,
                  [](Canvas& canvas) {
                    canvas.FillPolygon({{-0.2, 3}, {3, -0.2}, {6.2, 3}}, kInk);
                  }),
            "..##..\n"
            ".####.\n"
            "######\n");
  // A notch from above: a concave shape.
  EXPECT_EQ(Drawn(4, 2,
                  [](Canvas& canvas) {
                    canvas.FillPolygon(
                        {{0, 0}, {1, 0}, {1, 1}, {3, 1}, {3, 0}, {4, 0}, {4, 2}, {0, 2}}, kInk);
                  }),
            "#..#\n"
            "####\n");
}

TEST(CanvasTest, DrawsLinesOfTheirThickness) {
  EXPECT_EQ(Drawn(4, 4,
                  [](Canvas& canvas) {
                    canvas.Line({2, 0}, {2, 4}, 2, kInk);
                  }),
            ".##.\n"
            ".##.\n"
            ".##.\n"
            ".##.\n");
  EXPECT_EQ(Drawn(3, 3,
                  [](Canvas& canvas) {
                    canvas.Line({1.5, 1.5}, {1.5, 1.5}, 1, kInk);
                  }),
            "...\n"
            ".#.\n"
            "...\n");
}

TEST(CanvasTest, WritesTextAndKnowsItsWidth) {
  EXPECT_EQ(Canvas::TextWidth(1, "1t"), 11);
  EXPECT_EQ(Canvas::TextWidth(2, "1"), 10);
  EXPECT_EQ(Canvas::TextWidth(2, ""), 0);
  EXPECT_EQ(Drawn(11, 7, [](Canvas& canvas) { canvas.Text(0, 0, 1, "1t", kInk); }),
            "..#...#####\n"
            ".##.....#..\n"
            "..#.....#..\n"
            "..#.....#..\n"
            "..#.....#..\n"
            "..#.....#..\n"
            ".###....#..\n");
  // What has no glyph is a box.
  EXPECT_EQ(Drawn(5, 7, [](Canvas& canvas) { canvas.Text(0, 0, 1, "\x7f", kInk); }),
            "#####\n#...#\n#...#\n#...#\n#...#\n#...#\n#####\n");
}

}  // namespace
}  // namespace lzero::canvas_test
