// MiniGrid-DoorKey: a wall with a locked door splits the room; agent and key are on its left, the
// goal is in the bottom right corner. Cap 10 size^2 unless set. The rest is grid_env.h's.
// [minigrid/envs/doorkey.py]
#include "envs/entries.h"
#include "envs/grid/grid_env.h"

namespace lzero {
namespace {

void Generate(NumpyRandom& random, GridWorld& world) {
  const int size = world.width();
  world.SetWalls(world.whole());
  world.Set({size - 2, size - 2}, GridCell::Goal());
  const int wall_x = static_cast<int>(random.Integers(2, size - 2));
  const GridRectangle left_side = {0, 0, wall_x, size};
  world.SetColumn({wall_x, 0}, size, GridCell::Wall());
  world.PlaceAgent(random, left_side);
  const int door_y = static_cast<int>(random.Integers(1, size - 2));
  world.Set({wall_x, door_y}, GridCell::Door(GridColor::kYellow, DoorState::kLocked));
  world.PlaceCell(random, left_side, /*distance=*/1, GridCell::Key(GridColor::kYellow));
}

}  // namespace

EnvRegistry::Entry DoorKeyEntry() {
  return GridEntry("minigrid/doorkey", "fetch a key, open a door, reach the goal (MiniGrid)",
                   {EnvSetting::Int("size", 8, 5, 25, "cells along a side, walls included")},
                   [](const EnvSettings& given) {
                     const int size = static_cast<int>(given.Int("size"));
                     return GridTask{size, size, 10 * size * size, Generate};
                   });
}

}  // namespace lzero
