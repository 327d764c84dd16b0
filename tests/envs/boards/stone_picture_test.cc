#include "envs/boards/stone_picture.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace lzero::stone_picture_test {
namespace {

int NumColors(const Image& image) {
  std::set<int> colors;
  const std::vector<uint8_t>& pixels = image.pixels;
  for (size_t i = 0; i < pixels.size(); i += 3) {
    const bool as_before = i > 0 && std::equal(&pixels[i], &pixels[i] + 3, &pixels[i - 3]);
    if (!as_before) colors.insert(pixels[i] << 16 | pixels[i + 1] << 8 | pixels[i + 2]);
  }
  return static_cast<int>(colors.size());
}

TEST(StonePictureTest, GoHasNoColumnI) {
  EXPECT_EQ(ColumnLetter(Coordinates::kRowOneAtTop, 0), 'A');
  EXPECT_EQ(ColumnLetter(Coordinates::kRowOneAtTop, 8), 'I');
  EXPECT_EQ(ColumnLetter(Coordinates::kRowOneAtBottomNoI, 7), 'H');
  EXPECT_EQ(ColumnLetter(Coordinates::kRowOneAtBottomNoI, 8), 'J');
  EXPECT_EQ(ColumnLetter(Coordinates::kRowOneAtBottomNoI, 18), 'T');
}

TEST(StonePictureTest, BoardsOfAllSizesFillThePicture) {
  for (const int size : {3, 5, 9, 13, 15, 19}) {
    const StoneGrid grid = WoodenGrid(size);
    EXPECT_GE(grid.pixels(), 340) << size;
    EXPECT_LE(grid.pixels(), 380) << size;
    const Image image = WoodenBoard(grid);
    EXPECT_EQ(image.width, grid.pixels());
    EXPECT_EQ(image.height, grid.pixels());
    EXPECT_EQ(NumColors(image), 3) << size;  // wood, grain, lines
    const Point last = grid.At(size - 1, size - 1);
    EXPECT_LE(last.x + grid.cell / 2.0, grid.pixels());
    // A line goes to the last point and not beyond.
    const int x = static_cast<int>(last.x) - 1, y = static_cast<int>(last.y) - 1;
    EXPECT_EQ(image.at(x - 4, y), image.at(x, y - 4)) << size;
    EXPECT_FALSE(image.at(x + 4, y) == image.at(x - 4, y)) << size;
  }
}

TEST(StonePictureTest, StonesAndTheLastMoveAreSeen) {
  Image image(60, 30, {10, 200, 10});
  Canvas canvas(&image);
  DrawStone(canvas, {15.0, 15.0}, 12.0, 0);
  DrawStone(canvas, {45.0, 15.0}, 12.0, 1);
  EXPECT_LT(image.at(17, 17).green, 60);
  EXPECT_GT(image.at(47, 17).green, 200);
  EXPECT_EQ(image.at(1, 1), (Color{10, 200, 10}));
  EXPECT_EQ(image.at(30, 15), (Color{10, 200, 10}));
  const Color before = image.at(18, 15);
  DrawLastMove(canvas, {15.0, 15.0}, 12.0, 0);
  EXPECT_FALSE(image.at(18, 15) == before);
}

TEST(StonePictureTest, CoordinatesStayInTheMargin) {
  const StoneGrid grid = WoodenGrid(19);
  const Color color = {1, 2, 3};
  Image image(grid.pixels(), grid.pixels(), {200, 200, 200});
  Canvas canvas(&image);
  DrawCoordinates(canvas, grid, Coordinates::kRowOneAtBottomNoI, color);
  const int margin = static_cast<int>(grid.margin - grid.cell / 2.0);
  int num_drawn = 0;
  for (int y = 0; y < image.height; ++y) {
    for (int x = 0; x < image.width; ++x) {
      if (!(image.at(x, y) == color)) continue;
      ++num_drawn;
      EXPECT_TRUE(x < margin || y >= image.height - margin) << x << " " << y;
    }
  }
  EXPECT_GT(num_drawn, 500);
}

}  // namespace
}  // namespace lzero::stone_picture_test
