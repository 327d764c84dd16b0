// The rules of 2048 by lists of tiles, for the tests of envs/stochastic/game_2048: a board is
// turned until the move goes to the left, then each row is a list of its tiles. Not fast, and not
// used by the environment. Pure functions.
#ifndef LZERO_TESTS_ENVS_STOCHASTIC_LISTS_2048_H_
#define LZERO_TESTS_ENVS_STOCHASTIC_LISTS_2048_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace lzero {

using Tiles = std::vector<double>;  // [16], as GetState gives them

// The rules by lists: a board is turned until the move goes to the left, then each row is a list of
// its tiles. `marks` follow: on entry where nothing may merge, on return where the move made a
// tile.
struct Position {
  Tiles tiles;
  // On entry of BruteSlide: tiles that nothing merges into; on return: tiles that the move made.
  std::vector<int> marks = std::vector<int>(16, 0);
};

template <typename T>
std::vector<T> Turned(const std::vector<T>& squares) {  // a quarter turn: up becomes left
  std::vector<T> turned(16);
  for (int row = 0; row < 4; ++row) {
    for (int column = 0; column < 4; ++column) {
      turned[(3 - column) * 4 + row] = squares[row * 4 + column];
    }
  }
  return turned;
}

// Slides a row to the left; returns the sum of the tiles made.
inline double SlideRow(std::vector<double>& row, std::vector<int>& marks) {
  std::vector<double> tiles;
  std::vector<int> made, closed;
  tiles.reserve(row.size());
  made.reserve(row.size());
  closed.reserve(row.size());
  double sum = 0.0;
  for (size_t i = 0; i < row.size(); ++i) {
    if (row[i] == 0.0) continue;
    if (!tiles.empty() && tiles.back() == row[i] && closed.back() == 0) {
      tiles.back() *= 2.0;
      made.back() = closed.back() = 1;
      sum += tiles.back();
    } else {
      tiles.push_back(row[i]);
      made.push_back(0);
      closed.push_back(marks[i]);
    }
  }
  tiles.resize(row.size(), 0.0);
  made.resize(row.size(), 0);
  row = tiles;
  marks = made;
  return sum;
}

inline double BruteSlide(Position& position, int direction) {
  const int num_turns = (direction + 1) % 4;
  for (int i = 0; i < num_turns; ++i) {
    position = {Turned(position.tiles), Turned(position.marks)};
  }
  double sum = 0.0;
  for (int row = 0; row < 4; ++row) {
    std::vector<double> tiles(position.tiles.begin() + row * 4,
                              position.tiles.begin() + row * 4 + 4);
    std::vector<int> marks(position.marks.begin() + row * 4, position.marks.begin() + row * 4 + 4);
    sum += SlideRow(tiles, marks);
    std::copy(tiles.begin(), tiles.end(), position.tiles.begin() + row * 4);
    std::copy(marks.begin(), marks.end(), position.marks.begin() + row * 4);
  }
  for (int i = num_turns; i % 4 != 0; ++i) {
    position = {Turned(position.tiles), Turned(position.marks)};
  }
  return sum;
}

inline std::vector<uint8_t> BruteMask(const Position& position) {
  std::vector<uint8_t> mask;
  for (int direction = 0; direction < 4; ++direction) {
    Position moved = position;
    BruteSlide(moved, direction);
    mask.push_back(moved.tiles != position.tiles ? 1 : 0);
  }
  return mask;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_STOCHASTIC_LISTS_2048_H_
