#include "envs/boards/board_symmetries.h"

#include <numeric>
#include <utility>

namespace lzero {
namespace {

// Where the square (row, column) comes to lie: transposed for odd `which`, then flipped top to
// bottom and left to right by its other two bits.
int ImageOf(int which, int size, int row, int column) {
  if (which & 1) std::swap(row, column);
  if (which & 2) row = size - 1 - row;
  if (which & 4) column = size - 1 - column;
  return row * size + column;
}

}  // namespace

std::vector<Symmetry> SquareBoardSymmetries(int size, int num_planes, int num_other_actions) {
  const int num_squares = size * size;
  std::vector<Symmetry> symmetries(8);
  for (int which = 0; which < 8; ++which) {
    Symmetry& symmetry = symmetries[which];
    symmetry.action_image.resize(num_squares + num_other_actions);
    std::iota(symmetry.action_image.begin(), symmetry.action_image.end(), 0);
    symmetry.observation_source.resize(num_planes * num_squares);
    for (int square = 0; square < num_squares; ++square) {
      const int image = ImageOf(which, size, square / size, square % size);
      symmetry.action_image[square] = image;
      for (int plane = 0; plane < num_planes; ++plane) {
        symmetry.observation_source[plane * num_squares + image] = plane * num_squares + square;
      }
    }
  }
  return symmetries;
}

std::vector<Symmetry> HalfTurnSymmetries(int size, int num_planes) {
  std::vector<Symmetry> all = SquareBoardSymmetries(size, num_planes);
  return {std::move(all[0]), std::move(all[6])};  // 6: both flips
}

std::vector<Symmetry> ColumnBoardSymmetries(int num_rows, int num_columns, int num_planes) {
  std::vector<Symmetry> symmetries(2);
  for (const bool mirrored : {false, true}) {
    Symmetry& symmetry = symmetries[mirrored ? 1 : 0];
    const auto image = [&](int column) { return mirrored ? num_columns - 1 - column : column; };
    for (int line = 0; line < num_planes * num_rows; ++line) {
      for (int column = 0; column < num_columns; ++column) {
        symmetry.observation_source.push_back(line * num_columns + image(column));
      }
    }
    for (int column = 0; column < num_columns; ++column) {
      symmetry.action_image.push_back(image(column));
    }
  }
  return symmetries;
}

}  // namespace lzero
