// MiniGrid-KeyCorridor: rooms on both sides of a corridor; a ball lies behind a locked door on the
// right, its key in a room on the left. Picking up the ball is success; the hand that holds the key
// is not free for it. room_size x room_size cells a room, walls included, in num_rows rows; cap
// 30 room_size^2 unless set. The rest is grid_env.h's. [minigrid/envs/keycorridor.py]
#include <functional>

#include "envs/entries.h"
#include "envs/grid/grid_env.h"
#include "envs/grid/room_grid.h"

namespace lzero {
namespace {

constexpr int kNumColumns = 3;  // rooms, the corridor, rooms

void Generate(int room_size, int num_rows, NumpyRandom& random, GridWorld& world) {
  RoomGrid rooms(room_size, kNumColumns, num_rows, &random, &world);
  for (int row = 1; row < num_rows; ++row) rooms.RemoveWall(1, row, RoomGrid::kUp);
  const int locked_row = static_cast<int>(random.Integers(0, num_rows));
  const GridColor door_color = DrawGridColor(random);
  rooms.AddDoor(2, locked_row, RoomGrid::kLeft, door_color, DoorState::kLocked);
  rooms.AddThing(2, locked_row, GridCell::Ball(DrawGridColor(random)));
  const int key_row = static_cast<int>(random.Integers(0, num_rows));
  rooms.AddThing(0, key_row, GridCell::Key(door_color));
  rooms.PlaceAgent(1, num_rows / 2);
  rooms.ConnectAll();
}

GridTask Task(const EnvSettings& given) {
  const int room_size = static_cast<int>(given.Int("room_size"));
  const int num_rows = static_cast<int>(given.Int("num_rows"));
  GridTask task = {RoomGrid::WorldSize(room_size, kNumColumns),
                   RoomGrid::WorldSize(room_size, num_rows), 30 * room_size * room_size};
  task.generate = std::bind_front(Generate, room_size, num_rows);
  task.target = GridObject::kBall;
  return task;
}

}  // namespace

EnvRegistry::Entry KeyCorridorEntry() {
  return GridEntry(
      "minigrid/keycorridor", "find a key, take a ball from a locked room (MiniGrid)",
      {EnvSetting::Int("room_size", 3, 3, 6, "cells along a side of a room, walls included"),
       EnvSetting::Int("num_rows", 3, 1, 3, "rooms along the corridor")},
      Task);
}

}  // namespace lzero
