// MiniGrid's world: cells, an agent that turns, walks, carries one thing and opens doors, and its
// view of 7 x 7 cells. Built by a family's generator, which draws from NumPy's generator in the
// reference's order; knows neither rewards nor episodes (grid_env.h). Used by one thread at a time.
// x grows to the right, y downward; directions: 0 right, 1 down, 2 left, 3 up.
// [minigrid/minigrid_env.py, core/grid.py]
#ifndef LZERO_ENVS_GRID_GRID_WORLD_H_
#define LZERO_ENVS_GRID_GRID_WORLD_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "envs/grid/grid_cell.h"
#include "envs/support/numpy_random.h"

namespace lzero {

struct GridPlace {
  int x = 0, y = 0;

  friend bool operator==(const GridPlace&, const GridPlace&) = default;
};

// One step in each direction.
inline constexpr std::array<GridPlace, 4> kGridSteps = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};

struct GridRectangle {
  int left = 0, top = 0, width = 0, height = 0;
};

struct GridAgent {
  GridPlace place;
  int direction = 0;

  friend bool operator==(const GridAgent&, const GridAgent&) = default;
};

enum class GridAction { kLeft, kRight, kForward, kPickUp, kDrop, kToggle, kDone };
inline constexpr int kNumGridActions = 7;

// What an action did that can matter to a task.
enum class GridEvent { kNone, kReachedGoal, kEnteredLava, kPickedUp };

// What the agent sees, turned so that it looks up from the middle of the bottom row; its own cell
// shows what it carries.
struct GridView {
  static constexpr int kSize = 7;
  static constexpr int kAgentColumn = kSize / 2;
  static constexpr int kAgentRow = kSize - 1;

  std::array<GridCell, kSize * kSize> cells;  // [row][column]; kUnseen where nothing is seen
  std::array<uint8_t, kSize> seen = {};       // [row], bit `column`

  bool sees(int column, int row) const { return (seen[row] >> column & 1) != 0; }
  const GridCell& at(int column, int row) const { return cells[row * kSize + column]; }
};

class GridWorld {
 public:
  // The longest side; larger ones, and sides below 3, are our bug.
  static constexpr int kMaxSize = 64;

  // All cells empty, no agent yet. `sees_through_walls`: everything in view is seen.
  GridWorld(int width, int height, bool sees_through_walls);

  int width() const { return width_; }
  int height() const { return height_; }
  const GridAgent& agent() const { return agent_; }
  // kEmpty: nothing is carried.
  const GridCell& carried() const { return carried_; }
  const GridCell& at(GridPlace place) const { return cells_[Index(place)]; }
  // The place before the agent.
  GridPlace front() const {
    const GridPlace& step = kGridSteps[agent_.direction];
    return {agent_.place.x + step.x, agent_.place.y + step.y};
  }
  // The place in the world of a cell of the view; can lie outside.
  GridPlace PlaceOfView(int column, int row) const {
    const GridPlace& step = kGridSteps[agent_.direction];
    const int ahead = GridView::kAgentRow - row;
    const int right = column - GridView::kAgentColumn;
    return {agent_.place.x + step.x * ahead - step.y * right,
            agent_.place.y + step.y * ahead + step.x * right};
  }
  bool Contains(GridPlace place) const {
    return place.x >= 0 && place.x < width_ && place.y >= 0 && place.y < height_;
  }

  // Building. The outermost cells must be walls when the agent begins to act.

  // All cells empty, nothing carried, the agent nowhere.
  void Clear() {
    for (int y = 0; y < height_; ++y) SetRow({0, y}, width_, GridCell::Empty());
    agent_ = kNoAgent;
    carried_ = GridCell::Empty();
  }
  void Set(GridPlace place, GridCell cell) { cells_[Index(place)] = cell; }
  // Lines of `length` cells to the right of or below `start`.
  void SetRow(GridPlace start, int length, GridCell cell) {
    for (int i = 0; i < length; ++i) Set({start.x + i, start.y}, cell);
  }
  void SetColumn(GridPlace start, int length, GridCell cell) {
    for (int i = 0; i < length; ++i) Set({start.x, start.y + i}, cell);
  }
  // Walls along the sides of `rectangle`.
  void SetWalls(const GridRectangle& rectangle);
  void SetAgent(const GridAgent& agent) { agent_ = agent; }
  // Draws x, then y, in the rectangle until the cell is empty and at least `distance` steps from
  // the agent (1: another place than the agent's), and puts `cell` there. A rectangle without such
  // a place is our bug.
  GridPlace PlaceCell(NumpyRandom& random, const GridRectangle& rectangle, int distance,
                      GridCell cell);
  // Puts the agent on an empty cell of the rectangle drawn likewise, then draws its direction.
  void PlaceAgent(NumpyRandom& random, const GridRectangle& rectangle) {
    agent_.place = kNoAgent.place;
    agent_.place = PlaceCell(random, rectangle, 1, GridCell::Empty());
    agent_.direction = static_cast<int>(random.Integers(0, 4));
  }
  GridRectangle whole() const { return {0, 0, width_, height_}; }

  // Playing.

  GridEvent Act(GridAction action);
  GridView View() const;

  // width, height, agent x, y, direction, what is carried, then the cells row by row, each as
  // object, colour, state.
  std::vector<uint8_t> ToBytes() const;
  // Takes over what ToBytes gave. InvalidArgument, and nothing has changed, for another size or
  // for what cannot be: open outer walls, objects that there are not, an agent inside a wall.
  absl::Status SetBytes(absl::Span<const uint8_t> bytes);

 private:
  // Before the agent is placed: nowhere, and at least 2 steps from everywhere.
  static constexpr GridAgent kNoAgent = {{-1, -1}, 0};
  // Walls around the cells, so that views need not ask where the world ends.
  static constexpr int kMargin = GridView::kSize - 1;

  size_t Index(GridPlace place) const {
    return static_cast<size_t>((place.y + kMargin) * stride_ + place.x + kMargin);
  }
  void Toggle(GridCell& cell) const;
  void HideUnseen(GridView& view) const;
  absl::Status CheckParts() const;

  int width_;
  int height_;
  int stride_;
  bool sees_through_walls_;
  std::vector<GridCell> cells_;  // [height + 2 margins, stride]
  GridAgent agent_;
  GridCell carried_ = GridCell::Empty();
};

}  // namespace lzero

#endif  // LZERO_ENVS_GRID_GRID_WORLD_H_
