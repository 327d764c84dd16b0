#include "envs/grid/key_corridor.h"

#include "envs/grid/room_grid.h"
#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "minigrid/keycorridor";
constexpr int kNumColumns = 3;  // rooms, the corridor, rooms

}  // namespace

std::vector<EnvSetting> KeyCorridor::Settings() {
  return {EnvSetting::Int("room_size", 3, 3, 6, "cells along a side of a room, walls included"),
          EnvSetting::Int("num_rows", 3, 1, 3, "rooms along the corridor")};
}

absl::StatusOr<std::unique_ptr<Env>> KeyCorridor::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(kId, Settings(), options.settings));
  const int room_size = static_cast<int>(settings.Int("room_size"));
  const int num_rows = static_cast<int>(settings.Int("num_rows"));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, options, 30 * room_size * room_size));
  GridWorld world(RoomGrid::WorldSize(room_size, kNumColumns),
                  RoomGrid::WorldSize(room_size, num_rows), /*sees_through_walls=*/false);
  return std::unique_ptr<Env>(
      new KeyCorridor(std::move(spec), std::move(world), room_size, num_rows));
}

void KeyCorridor::Generate(NumpyRandom& random, GridWorld& world) const {
  RoomGrid rooms(room_size_, kNumColumns, num_rows_, &random, &world);
  for (int row = 1; row < num_rows_; ++row) rooms.RemoveWall(1, row, RoomGrid::kUp);
  const int locked_row = static_cast<int>(random.Integers(0, num_rows_));
  const GridColor door_color = DrawGridColor(random);
  rooms.AddDoor(2, locked_row, RoomGrid::kLeft, door_color, DoorState::kLocked);
  rooms.AddThing(2, locked_row, GridCell::Ball(DrawGridColor(random)));
  const int key_row = static_cast<int>(random.Integers(0, num_rows_));
  rooms.AddThing(0, key_row, GridCell::Key(door_color));
  rooms.PlaceAgent(1, num_rows_ / 2);
  rooms.ConnectAll();
}

bool KeyCorridor::IsSuccess(GridEvent event) const {
  return event == GridEvent::kPickedUp && world().carried().object == GridObject::kBall;
}

}  // namespace lzero
