#include "envs/grid/door_key.h"

#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "minigrid/doorkey";

}  // namespace

std::vector<EnvSetting> DoorKey::Settings() {
  return {EnvSetting::Int("size", 8, 5, 25, "cells along a side, walls included")};
}

absl::StatusOr<std::unique_ptr<Env>> DoorKey::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(kId, Settings(), options.settings));
  const int size = static_cast<int>(settings.Int("size"));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, options, 10 * size * size));
  GridWorld world(size, size, /*sees_through_walls=*/false);
  return std::unique_ptr<Env>(new DoorKey(std::move(spec), std::move(world)));
}

void DoorKey::Generate(NumpyRandom& random, GridWorld& world) const {
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

}  // namespace lzero
