#include "envs/board_symmetries.h"

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

std::vector<Symmetry> SquareBoardSymmetries(int size, int num_planes) {
  const int num_squares = size * size;
  std::vector<Symmetry> symmetries(8);
  for (int which = 0; which < 8; ++which) {
    Symmetry& symmetry = symmetries[which];
    symmetry.action_image.resize(num_squares);
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

}  // namespace lzero
