#include "envs/boards/chess/picture.h"

#include "envs/boards/stone_picture.h"
#include "envs/support/canvas.h"

namespace lzero::chess {
namespace {

constexpr int kShapeSize = 11;
constexpr int kKindStride = kShapeSize + 1;
// Pawn, knight, bishop, rook, queen and king.
constexpr const char* kShapes[kShapeSize] = {
    "........... ....#.#.... .....#..... ........... .....#..... .....#.....",
    "........... ....####... ....###.... .##.###.##. #....#....# ....###....",
    "....###.... ...######.. ...###.#... .##.###.##. #...###...# .....#.....",
    "...#####... ..##.#####. ..###.###.. .#########. ##..###..## .###.#.###.",
    "...#####... .#########. ..##.####.. ..#######.. ##.#####.## ####.#.####",
    "....###.... ##########. ..#######.. ...#####... ########### #####.#####",
    "....###.... ####..####. ...#####... ...#####... .#########. #####.#####",
    "...#####... .##..#####. ....###.... ...#####... .#########. .#########.",
    "...#####... ....#####.. ...#####... ..#######.. ..#######.. ..#######..",
    "..#######.. ..#######.. ..#######.. .#########. .#########. .#########.",
    "..#######.. ..#######.. .####.####. .#########. .#########. .#########.",
};

// The shape of a piece around `center`, its points `pixel` wide and as much wider as `rim` says.
void DrawShape(Canvas& canvas, Point center, Kind kind, double pixel, double rim, Color color) {
  for (int row = 0; row < kShapeSize; ++row) {
    for (int column = 0; column < kShapeSize; ++column) {
      if (kShapes[row][kind * kKindStride + column] != '#') continue;
      canvas.FillRectangle(center.x + (column - 0.5 * kShapeSize) * pixel - rim,
                           center.y + (row - 0.5 * kShapeSize) * pixel - rim, pixel + 2.0 * rim,
                           pixel + 2.0 * rim, color);
    }
  }
}

}  // namespace

Image Picture(const Position& position, Move last_move) {
  constexpr StoneGrid kGrid = {8, 42.0, 21.0 + 22.0};
  constexpr Color kFrame = {58, 46, 38}, kLight = {236, 218, 185}, kDark = {174, 137, 104},
                  kLightMarked = {222, 206, 110}, kDarkMarked = {178, 156, 62};
  constexpr Color kPieces[] = {{250, 248, 240}, {34, 32, 34}};
  constexpr Color kRims[] = {{52, 46, 40}, {206, 198, 182}};
  Image image(kGrid.pixels(), kGrid.pixels(), kFrame);
  Canvas canvas(&image);
  for (int square = 0; square < kNumSquares; ++square) {
    const Point center = kGrid.At(7 - RankOf(square), FileOf(square));
    const bool light = (RankOf(square) + FileOf(square)) % 2 == 1;
    const bool marked = square == last_move.from || square == last_move.to;
    canvas.FillRectangle(center.x - 0.5 * kGrid.cell, center.y - 0.5 * kGrid.cell, kGrid.cell,
                         kGrid.cell,
                         light    ? (marked ? kLightMarked : kLight)
                         : marked ? kDarkMarked
                                  : kDark);
    const Kind kind = position.KindAt(square);
    if (kind == kNoKind) continue;
    const int color = (position.colors[kBlack] & Bit(square)) != 0 ? kBlack : kWhite;
    DrawShape(canvas, center, kind, 3.0, 1.0, kRims[color]);
    DrawShape(canvas, center, kind, 3.0, 0.0, kPieces[color]);
  }
  DrawCoordinates(canvas, kGrid, Coordinates::kRowOneAtBottomNoI, {214, 204, 190});
  return image;
}

}  // namespace lzero::chess
