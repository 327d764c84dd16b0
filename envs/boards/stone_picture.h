// How games with black and white stones look: a wooden board with lines and star points, stones,
// coordinates. Knows no rules. Row 0 of a grid is at the top of the picture. Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_STONE_PICTURE_H_
#define LZERO_ENVS_BOARDS_STONE_PICTURE_H_

#include "envs/support/canvas.h"
#include "lzero/base/picture/image.h"

namespace lzero {

// The points of a square board on a square picture, in pixels.
struct StoneGrid {
  int size = 0;         // rows and columns
  double cell = 0.0;    // between neighbouring points
  double margin = 0.0;  // between the first point and the edge of the picture

  constexpr int pixels() const { return static_cast<int>((size - 1) * cell + 2.0 * margin); }
  Point At(int row, int column) const { return {margin + column * cell, margin + row * cell}; }
};

// Where row 1 is, and whether the letter I is left out, as Go does.
enum class Coordinates { kRowOneAtTop, kRowOneAtBottomNoI };

char ColumnLetter(Coordinates coordinates, int column);

// A grid of `size` x `size` that fills about 370 pixels, with room for coordinates.
StoneGrid WoodenGrid(int size);
// An empty board with its lines and, from 7 x 7 on, star points.
Image WoodenBoard(const StoneGrid& grid);
// Black for player 0, white for player 1, with a rim and a light.
void DrawStone(Canvas& canvas, Point center, double radius, int player);
// A mark on the last stone, of `player`.
void DrawLastMove(Canvas& canvas, Point center, double radius, int player);
// Letters below the board and numbers at its left, in the margin beyond half a cell.
void DrawCoordinates(Canvas& canvas, const StoneGrid& grid, Coordinates coordinates, Color color);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_STONE_PICTURE_H_
