#include "envs/boards/stone_picture.h"

#include <cmath>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace lzero {
namespace {

constexpr Color kWood = {222, 184, 116};
constexpr Color kGrain = {214, 174, 105};
constexpr Color kLine = {92, 66, 32};
constexpr Color kBlackStone = {28, 28, 32};
constexpr Color kWhiteStone = {244, 243, 238};
constexpr int kLetterHeight = 7;

// Rows and columns of the star points: near the edges, and the middle of an odd board.
std::vector<int> StarLines(int size) {
  if (size < 7) return {};
  const int edge = size < 13 ? 2 : 3;
  if (size % 2 == 0) return {edge, size - 1 - edge};
  return {edge, size / 2, size - 1 - edge};
}

// A text whose middle is at `center`.
void TextAround(Canvas& canvas, Point center, const std::string& text, Color color) {
  const double width = Canvas::TextWidth(1, text);
  canvas.Text(static_cast<int>(std::lround(center.x - width / 2.0)),
              static_cast<int>(std::lround(center.y - kLetterHeight / 2.0)), 1, text, color);
}

}  // namespace

char ColumnLetter(Coordinates coordinates, int column) {
  const bool after_i = coordinates == Coordinates::kRowOneAtBottomNoI && column >= 'I' - 'A';
  return static_cast<char>('A' + column + (after_i ? 1 : 0));
}

StoneGrid WoodenGrid(int size) {
  const double cell = std::floor(340.0 / size);
  return {size, cell, std::floor(cell / 2.0) + 18.0};
}

Image WoodenBoard(const StoneGrid& grid) {
  const int pixels = grid.pixels();
  Image image(pixels, pixels, kWood);
  Canvas canvas(&image);
  for (int y = 3; y < pixels; y += 9) canvas.FillRectangle(0, y, pixels, 3, kGrain);
  for (int i = 0; i < grid.size; ++i) {
    canvas.Line(grid.At(i, 0), grid.At(i, grid.size - 1), 1.0, kLine);
    canvas.Line(grid.At(0, i), grid.At(grid.size - 1, i), 1.0, kLine);
  }
  for (const int row : StarLines(grid.size)) {
    for (const int column : StarLines(grid.size)) {
      const bool middle_of_side = (row == grid.size / 2) != (column == grid.size / 2);
      if (middle_of_side && grid.size < 15) continue;
      canvas.FillCircle(grid.At(row, column), grid.cell < 20.0 ? 2.5 : 4.0, kLine);
    }
  }
  return image;
}

void DrawStone(Canvas& canvas, Point center, double radius, int player) {
  const bool black = player == 0;
  const Color rim = black ? Color{8, 8, 10} : Color{120, 112, 98};
  const Color light = black ? Color{74, 74, 82} : Color{255, 255, 255};
  canvas.FillCircle(center, radius, rim);
  canvas.FillCircle(center, radius - 1.0, black ? kBlackStone : kWhiteStone);
  const Point towards_light = {center.x - 0.32 * radius, center.y - 0.32 * radius};
  canvas.FillCircle(towards_light, 0.26 * radius, light);
}

void DrawLastMove(Canvas& canvas, Point center, double radius, int player) {
  canvas.FillCircle(center, 0.4 * radius, {206, 62, 44});
  canvas.FillCircle(center, 0.22 * radius, player == 0 ? kBlackStone : kWhiteStone);
}

void DrawCoordinates(Canvas& canvas, const StoneGrid& grid, Coordinates coordinates, Color color) {
  const double middle = (grid.margin - 0.5 * grid.cell) / 2.0;  // of the free margin
  for (int i = 0; i < grid.size; ++i) {
    const int number = coordinates == Coordinates::kRowOneAtTop ? i + 1 : grid.size - i;
    TextAround(canvas, {middle, grid.At(i, 0).y}, absl::StrCat(number), color);
    TextAround(canvas, {grid.At(0, i).x, grid.pixels() - middle},
               std::string(1, ColumnLetter(coordinates, i)), color);
  }
}

}  // namespace lzero
