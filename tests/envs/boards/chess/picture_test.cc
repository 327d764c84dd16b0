#include "envs/boards/chess/picture.h"

#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess::picture_test {
namespace {

// Squares are 42 pixels wide, a8 begins at (22, 22).
TEST(ChessPictureTest, ShowsPiecesAndTheLastMove) {
  const Image image = Picture(PositionOf("r7/8/8/8/8/8/8/K6k w - - 0 1"), MoveOf("b8a8"));
  EXPECT_EQ(image.width, 380);
  EXPECT_EQ(image.height, 380);
  const auto corner = [&](int row, int column) {
    return image.at(24 + 42 * column, 24 + 42 * row);
  };
  const auto center = [&](int row, int column) {
    return image.at(43 + 42 * column, 49 + 42 * row);
  };
  EXPECT_EQ(corner(7, 0), corner(0, 7));  // a1 and h8 are dark
  EXPECT_LT(corner(7, 0).red, corner(7, 1).red);
  EXPECT_NE(corner(0, 0), corner(0, 2));  // marked: a8, and b8
  EXPECT_NE(corner(0, 1), corner(0, 3));
  EXPECT_EQ(corner(1, 0), corner(0, 3));
  EXPECT_LT(center(0, 0).red, 60);   // black's rook
  EXPECT_GT(center(7, 0).red, 240);  // white's king
  EXPECT_LT(center(7, 7).red, 60);
  EXPECT_EQ(center(4, 4), corner(4, 4));
}

}  // namespace
}  // namespace lzero::chess::picture_test
