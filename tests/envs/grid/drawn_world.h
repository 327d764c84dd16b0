// Grid worlds and views as text, one letter a cell, for tests that are made by hand: '#' wall,
// '.' empty, 'G' goal, '~' lava, 'k' yellow key, 'r' red key, 'o' blue ball, 'y' yellow ball,
// doors: '_' open, 'D' closed, 'L' locked, all yellow; the agent '>' 'v' '<' '^'; '?' unseen.
// Functions without state, no thread rule.
#ifndef LZERO_TESTS_ENVS_GRID_DRAWN_WORLD_H_
#define LZERO_TESTS_ENVS_GRID_DRAWN_WORLD_H_

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "envs/grid/grid_world.h"
#include "lzero/base/check.h"

namespace lzero {

inline const std::vector<std::pair<char, GridCell>>& DrawnCells() {
  static const auto& cells = *new std::vector<std::pair<char, GridCell>>{
      {'?', GridCell{}},
      {'.', GridCell::Empty()},
      {'#', GridCell::Wall()},
      {'G', GridCell::Goal()},
      {'~', GridCell::Lava()},
      {'k', GridCell::Key(GridColor::kYellow)},
      {'r', GridCell::Key(GridColor::kRed)},
      {'o', GridCell::Ball(GridColor::kBlue)},
      {'y', GridCell::Ball(GridColor::kYellow)},
      {'_', GridCell::Door(GridColor::kYellow, DoorState::kOpen)},
      {'D', GridCell::Door(GridColor::kYellow, DoorState::kClosed)},
      {'L', GridCell::Door(GridColor::kYellow, DoorState::kLocked)}};
  return cells;
}

inline GridCell CellOfLetter(char letter) {
  for (const auto& [known, cell] : DrawnCells()) {
    if (known == letter) return cell;
  }
  LZ_CHECK(false, "no cell is drawn as ", std::string(1, letter));
  return {};
}

inline char LetterOf(const GridCell& cell) {
  for (const auto& [letter, known] : DrawnCells()) {
    if (known == cell) return letter;
  }
  return '!';
}

// Rows from the top. The agent stands on an empty cell.
inline GridWorld DrawnWorld(const std::vector<std::string>& rows, bool sees_through_walls = false) {
  constexpr char kAgents[] = ">v<^";
  GridWorld world(static_cast<int>(rows[0].size()), static_cast<int>(rows.size()),
                  sees_through_walls);
  for (int y = 0; y < world.height(); ++y) {
    for (int x = 0; x < world.width(); ++x) {
      const char letter = rows[y][x];
      const char* agent = std::strchr(kAgents, letter);
      if (agent != nullptr) {
        world.SetAgent({{x, y}, static_cast<int>(agent - kAgents)});
      } else {
        world.Set({x, y}, CellOfLetter(letter));
      }
    }
  }
  return world;
}

inline std::vector<std::string> DrawnView(const GridView& view) {
  std::vector<std::string> rows(GridView::kSize);
  for (int row = 0; row < GridView::kSize; ++row) {
    for (int column = 0; column < GridView::kSize; ++column) {
      rows[row] += LetterOf(view.at(column, row));
    }
  }
  return rows;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_GRID_DRAWN_WORLD_H_
