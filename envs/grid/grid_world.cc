#include "envs/grid/grid_world.h"

#include <cstdlib>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

// Draws for one place. So many fail only where no cell is empty and far enough.
constexpr int kMaxDraws = 1000000;
constexpr size_t kBytesBeforeCells = 8;

bool IsPossible(const GridCell& cell) {
  const bool known_color = static_cast<int>(cell.color) < kNumGridColors;
  if (cell.object == GridObject::kDoor) {
    return known_color && static_cast<int>(cell.state) < kNumDoorStates;
  }
  if (cell.can_be_carried()) return known_color && cell.state == DoorState::kOpen;
  return cell == GridCell::Empty() || cell == GridCell::Wall() || cell == GridCell::Goal() ||
         cell == GridCell::Lava();
}

std::string NumbersOf(const GridCell& cell) {
  return absl::StrCat("(", static_cast<int>(cell.object), ", ", static_cast<int>(cell.color), ", ",
                      static_cast<int>(cell.state), ")");
}

GridCell CellOf(const uint8_t* bytes) {
  return {static_cast<GridObject>(bytes[0]), static_cast<GridColor>(bytes[1]),
          static_cast<DoorState>(bytes[2])};
}

void AppendBytes(const GridCell& cell, std::vector<uint8_t>& bytes) {
  bytes.push_back(static_cast<uint8_t>(cell.object));
  bytes.push_back(static_cast<uint8_t>(cell.color));
  bytes.push_back(static_cast<uint8_t>(cell.state));
}

}  // namespace

GridWorld::GridWorld(int width, int height, bool sees_through_walls)
    : width_(width),
      height_(height),
      stride_(width + 2 * kMargin),
      sees_through_walls_(sees_through_walls),
      cells_(static_cast<size_t>(stride_ * (height + 2 * kMargin)), GridCell::Wall()) {
  LZ_CHECK(width >= 3 && width <= kMaxSize && height >= 3 && height <= kMaxSize, "a world of ",
           width, " x ", height, " cells");
  Clear();
}

void GridWorld::SetWalls(const GridRectangle& rectangle) {
  const auto [left, top, width, height] = rectangle;
  SetRow({left, top}, width, GridCell::Wall());
  SetRow({left, top + height - 1}, width, GridCell::Wall());
  SetColumn({left, top}, height, GridCell::Wall());
  SetColumn({left + width - 1, top}, height, GridCell::Wall());
}

GridPlace GridWorld::PlaceCell(NumpyRandom& random, const GridRectangle& rectangle, int distance,
                               GridCell cell) {
  for (int i = 0; i < kMaxDraws; ++i) {
    GridPlace place;
    place.x = static_cast<int>(random.Integers(rectangle.left, rectangle.left + rectangle.width));
    place.y = static_cast<int>(random.Integers(rectangle.top, rectangle.top + rectangle.height));
    const int steps = std::abs(place.x - agent_.place.x) + std::abs(place.y - agent_.place.y);
    if (!at(place).is_empty() || steps < distance) continue;
    Set(place, cell);
    return place;
  }
  LZ_CHECK(false, "no empty cell in ", rectangle.width, " x ", rectangle.height, " cells at (",
           rectangle.left, ", ", rectangle.top, ")");
  return {};
}

// A locked door opens to whoever carries a key of its colour, and is never locked again.
void GridWorld::Toggle(GridCell& cell) const {
  if (cell.object != GridObject::kDoor) return;
  if (cell.state == DoorState::kLocked) {
    if (carried_ == GridCell::Key(cell.color)) cell.state = DoorState::kOpen;
  } else {
    cell.state = cell.state == DoorState::kOpen ? DoorState::kClosed : DoorState::kOpen;
  }
}

GridEvent GridWorld::Act(GridAction action) {
  const GridPlace place = front();
  GridCell& cell = cells_[Index(place)];
  switch (action) {
    case GridAction::kLeft:
      agent_.direction = (agent_.direction + 3) % 4;
      break;
    case GridAction::kRight:
      agent_.direction = (agent_.direction + 1) % 4;
      break;
    case GridAction::kForward:
      if (!cell.can_be_entered()) break;
      agent_.place = place;
      if (cell.object == GridObject::kGoal) return GridEvent::kReachedGoal;
      if (cell.object == GridObject::kLava) return GridEvent::kEnteredLava;
      break;
    case GridAction::kPickUp:
      if (!cell.can_be_carried() || !carried_.is_empty()) break;
      carried_ = cell;
      cell = GridCell::Empty();
      return GridEvent::kPickedUp;
    case GridAction::kDrop:
      if (!cell.is_empty() || carried_.is_empty()) break;
      cell = carried_;
      carried_ = GridCell::Empty();
      break;
    case GridAction::kToggle:
      Toggle(cell);
      break;
    case GridAction::kDone:
      break;
  }
  return GridEvent::kNone;
}

GridView GridWorld::View() const {
  GridView view;
  // Steps in cells_ of one column to the right and one row down in the view.
  const GridPlace& step = kGridSteps[agent_.direction];
  const int right = step.x * stride_ - step.y;
  const int down = -step.y * stride_ - step.x;
  const GridCell* row_start = &cells_[Index(PlaceOfView(0, 0))];
  for (int row = 0; row < GridView::kSize; ++row, row_start += down) {
    for (int column = 0; column < GridView::kSize; ++column) {
      view.cells[row * GridView::kSize + column] = row_start[column * right];
    }
  }
  if (sees_through_walls_) {
    view.seen.fill((1 << GridView::kSize) - 1);
  } else {
    HideUnseen(view);
  }
  view.cells[GridView::kAgentRow * GridView::kSize + GridView::kAgentColumn] = carried_;
  return view;
}

// MiniGrid's shadows: from the agent's row upwards, sight spreads along each row to the right, then
// to the left, through cells that let it pass; each cell that passes it on to a neighbour also
// shows the two cells above itself and that neighbour. [minigrid/core/grid.py, process_vis]
void GridWorld::HideUnseen(GridView& view) const {
  constexpr unsigned kAll = (1u << GridView::kSize) - 1;
  constexpr unsigned kLeftmost = 1, kRightmost = 1u << (GridView::kSize - 1);
  unsigned seen = 1u << GridView::kAgentColumn;
  for (int row = GridView::kAgentRow; row >= 0; --row) {
    GridCell* const cells = &view.cells[row * GridView::kSize];
    unsigned clear = 0;
    for (int column = 0; column < GridView::kSize; ++column) {
      clear |= (cells[column].blocks_sight() ? 0u : 1u) << column;
    }
    for (int i = 1; i < GridView::kSize; ++i) seen |= (seen & clear) << 1 & kAll;
    const unsigned to_right = seen & clear & ~kRightmost;
    for (int i = 1; i < GridView::kSize; ++i) seen |= (seen & clear) >> 1;
    const unsigned to_left = seen & clear & ~kLeftmost;
    for (int column = 0; column < GridView::kSize; ++column) {
      if ((seen >> column & 1) == 0) cells[column] = {};
    }
    view.seen[row] = static_cast<uint8_t>(seen);
    seen = to_right | to_right << 1 | to_left | to_left >> 1;
  }
}

std::vector<uint8_t> GridWorld::ToBytes() const {
  std::vector<uint8_t> bytes;
  bytes.reserve(kBytesBeforeCells + static_cast<size_t>(width_ * height_) * 3);
  for (const int value : {width_, height_, agent_.place.x, agent_.place.y, agent_.direction}) {
    bytes.push_back(static_cast<uint8_t>(value));
  }
  AppendBytes(carried_, bytes);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) AppendBytes(at({x, y}), bytes);
  }
  return bytes;
}

absl::Status GridWorld::SetBytes(absl::Span<const uint8_t> bytes) {
  const size_t size = kBytesBeforeCells + static_cast<size_t>(width_ * height_) * 3;
  if (bytes.size() != size || bytes[0] != width_ || bytes[1] != height_) {
    return absl::InvalidArgumentError(
        absl::StrCat("a world of another size than ", width_, " x ", height_));
  }
  GridWorld next(width_, height_, sees_through_walls_);
  next.agent_ = {{bytes[2], bytes[3]}, bytes[4]};
  next.carried_ = CellOf(&bytes[5]);
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      next.Set({x, y}, CellOf(&bytes[kBytesBeforeCells + static_cast<size_t>(y * width_ + x) * 3]));
    }
  }
  LZ_RETURN_IF_ERROR(next.CheckParts());
  *this = std::move(next);
  return absl::OkStatus();
}

absl::Status GridWorld::CheckParts() const {
  for (int y = 0; y < height_; ++y) {
    for (int x = 0; x < width_; ++x) {
      const GridCell& cell = at({x, y});
      const bool outermost = x == 0 || y == 0 || x == width_ - 1 || y == height_ - 1;
      if (!IsPossible(cell) || (outermost && cell != GridCell::Wall())) {
        return absl::InvalidArgumentError(
            absl::StrCat("cell ", x, ", ", y, " is ", NumbersOf(cell)));
      }
    }
  }
  const bool can_carry = carried_.is_empty() || carried_.can_be_carried();
  if (!can_carry || !IsPossible(carried_)) {
    return absl::InvalidArgumentError(absl::StrCat("the agent carries ", NumbersOf(carried_)));
  }
  const auto [place, direction] = agent_;
  if (direction > 3 || !Contains(place) || !at(place).can_be_entered()) {
    return absl::InvalidArgumentError(
        absl::StrCat("the agent is at ", place.x, ", ", place.y, ", direction ", direction));
  }
  return absl::OkStatus();
}

}  // namespace lzero
