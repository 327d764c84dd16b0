// Positions of Go as drawings, for tests: rows from the top, 'X' black, 'O' white, anything else
// free, and points by their names ("C3").
#ifndef LZERO_TESTS_ENVS_BOARDS_GO_DIAGRAM_H_
#define LZERO_TESTS_ENVS_BOARDS_GO_DIAGRAM_H_

#include <algorithm>
#include <string>
#include <vector>

#include "envs/boards/go.h"
#include "lzero/base/check.h"

namespace lzero {

// "A1" is the bottom left corner; there is no column I.
inline int PointNamed(const std::string& name, int size) {
  const int column = name[0] - 'A' - (name[0] > 'I' ? 1 : 0);
  return (std::stoi(name.substr(1)) - 1) * size + column;
}

// The points of `rows` that hold `stone`, from the top left.
inline std::vector<int> PointsOf(const std::vector<std::string>& rows, char stone) {
  const int size = static_cast<int>(rows.size());
  std::vector<int> points;
  for (int row = 0; row < size; ++row) {
    LZ_CHECK(static_cast<int>(rows[row].size()) == size, "row ", row);
    for (int column = 0; column < size; ++column) {
      if (rows[row][column] == stone) points.push_back((size - 1 - row) * size + column);
    }
  }
  return points;
}

inline GoPosition PositionOf(const std::vector<std::string>& rows) {
  GoPosition position(static_cast<int>(rows.size()));
  for (const int player : {0, 1}) {
    for (const int point : PointsOf(rows, player == 0 ? 'X' : 'O')) position.Place(player, point);
  }
  return position;
}

// A game that came to this position with black to move; who has fewer stones passed in between.
inline GoBoard BoardOf(GoRules rules, const std::vector<std::string>& rows) {
  rules.size = static_cast<int>(rows.size());
  GoBoard board(rules);
  const std::vector<int> black = PointsOf(rows, 'X'), white = PointsOf(rows, 'O');
  for (size_t i = 0; i < std::max(black.size(), white.size()); ++i) {
    board.Play(i < black.size() ? black[i] : board.pass());
    board.Play(i < white.size() ? white[i] : board.pass());
  }
  return board;
}

// Plays moves by name, "pass" among them.
inline void PlayAll(GoBoard& board, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    board.Play(name == "pass" ? board.pass() : PointNamed(name, board.rules().size));
  }
}

// The rows of ToText without coordinates, from the top.
inline std::vector<std::string> RowsOf(const GoBoard& board) {
  const int size = board.rules().size;
  const std::string text = board.ToText();
  std::vector<std::string> rows;
  for (int row = 0; row < size; ++row) rows.push_back(text.substr(row * (size + 4) + 3, size));
  return rows;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_BOARDS_GO_DIAGRAM_H_
