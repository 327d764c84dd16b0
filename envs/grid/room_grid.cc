#include "envs/grid/room_grid.h"

#include "lzero/base/check.h"

namespace lzero {
namespace {

RoomGrid::Side Opposite(RoomGrid::Side side) { return static_cast<RoomGrid::Side>((side + 2) % 4); }

}  // namespace

GridColor DrawGridColor(NumpyRandom& random) {
  constexpr std::array<GridColor, kNumGridColors> kByName = {GridColor::kBlue, GridColor::kGreen,
                                                             GridColor::kGrey, GridColor::kPurple,
                                                             GridColor::kRed,  GridColor::kYellow};
  return kByName[random.Integers(0, kNumGridColors)];
}

RoomGrid::RoomGrid(int room_size, int num_columns, int num_rows, NumpyRandom* random,
                   GridWorld* world)
    : room_size_(room_size),
      num_columns_(num_columns),
      num_rows_(num_rows),
      random_(*random),
      world_(*world),
      rooms_(static_cast<size_t>(num_columns * num_rows)) {
  LZ_CHECK(room_size >= 3 && world->width() == WorldSize(room_size, num_columns) &&
               world->height() == WorldSize(room_size, num_rows),
           num_columns, " x ", num_rows, " rooms of ", room_size, " cells in a world of ",
           world->width(), " x ", world->height());
  for (int row = 0; row < num_rows; ++row) {
    for (int column = 0; column < num_columns; ++column) {
      world_.SetWalls(RectangleOf(column, row));
    }
  }
  for (int row = 0; row < num_rows; ++row) {
    for (int column = 0; column < num_columns; ++column) DrawDoorPlaces(column, row);
  }
  const auto middle = [&](int num_rooms) {
    return num_rooms / 2 * (room_size_ - 1) + room_size_ / 2;
  };
  world_.SetAgent({{middle(num_columns), middle(num_rows)}, 0});
}

// Right and down are drawn, left and up are those of the neighbours before.
void RoomGrid::DrawDoorPlaces(int column, int row) {
  Room& here = room(column, row);
  const auto [left, top, width, height] = RectangleOf(column, row);
  const int right = left + width - 1;
  const int bottom = top + height - 1;
  here.has_neighbor = {column<num_columns_ - 1, row<num_rows_ - 1, column> 0, row> 0};
  if (here.has_neighbor[kRight]) {
    here.doors[kRight] = {right, static_cast<int>(random_.Integers(top + 1, bottom))};
  }
  if (here.has_neighbor[kDown]) {
    here.doors[kDown] = {static_cast<int>(random_.Integers(left + 1, right)), bottom};
  }
  if (here.has_neighbor[kLeft]) here.doors[kLeft] = Neighbor(column, row, kLeft).doors[kRight];
  if (here.has_neighbor[kUp]) here.doors[kUp] = Neighbor(column, row, kUp).doors[kDown];
}

void RoomGrid::Open(int column, int row, Side side) {
  Room& here = room(column, row);
  LZ_CHECK(here.has_neighbor[side] && !here.is_open[side], "side ", static_cast<int>(side),
           " of room ", column, ", ", row, " has no neighbour or is open");
  here.is_open[side] = true;
  Neighbor(column, row, side).is_open[Opposite(side)] = true;
}

void RoomGrid::RemoveWall(int column, int row, Side side) {
  Open(column, row, side);
  const auto [left, top, width, height] = RectangleOf(column, row);
  if (side == kRight || side == kLeft) {
    const int x = side == kRight ? left + width - 1 : left;
    world_.SetColumn({x, top + 1}, height - 2, GridCell::Empty());
  } else {
    const int y = side == kDown ? top + height - 1 : top;
    world_.SetRow({left + 1, y}, width - 2, GridCell::Empty());
  }
}

void RoomGrid::PlaceAgent(int column, int row) {
  GridCell before;
  do {
    world_.PlaceAgent(random_, RectangleOf(column, row));
    before = world_.at(world_.front());
  } while (!before.is_empty() && before != GridCell::Wall());
}

bool RoomGrid::AllReachable() {
  const GridPlace agent = world_.agent().place;
  std::vector<bool> reached(rooms_.size(), false);
  std::vector<GridPlace> waiting = {{agent.x / (room_size_ - 1), agent.y / (room_size_ - 1)}};
  size_t num_reached = 0;
  while (!waiting.empty()) {
    const GridPlace place = waiting.back();
    waiting.pop_back();
    const size_t index = static_cast<size_t>(place.y * num_columns_ + place.x);
    if (reached[index]) continue;
    reached[index] = true;
    ++num_reached;
    for (const Side side : {kRight, kDown, kLeft, kUp}) {
      if (!rooms_[index].is_open[side]) continue;
      waiting.push_back({place.x + kGridSteps[side].x, place.y + kGridSteps[side].y});
    }
  }
  return num_reached == rooms_.size();
}

void RoomGrid::ConnectAll() {
  while (!AllReachable()) {
    const int column = static_cast<int>(random_.Integers(0, num_columns_));
    const int row = static_cast<int>(random_.Integers(0, num_rows_));
    const Side side = static_cast<Side>(random_.Integers(0, 4));
    const Room& here = room(column, row);
    if (!here.has_neighbor[side] || here.is_open[side]) continue;
    if (here.is_behind_lock || Neighbor(column, row, side).is_behind_lock) continue;
    AddDoor(column, row, side, DrawGridColor(random_), DoorState::kClosed);
  }
}

}  // namespace lzero
