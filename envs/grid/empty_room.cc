#include "envs/grid/empty_room.h"

#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "minigrid/empty";

}  // namespace

std::vector<EnvSetting> EmptyRoom::Settings() {
  return {EnvSetting::Int("size", 8, 5, 25, "cells along a side, walls included"),
          EnvSetting::Choice("random_start", {"no", "yes"}, "whether the agent starts anywhere")};
}

absl::StatusOr<std::unique_ptr<Env>> EmptyRoom::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(kId, Settings(), options.settings));
  const int size = static_cast<int>(settings.Int("size"));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, options, 4 * size * size));
  GridWorld world(size, size, /*sees_through_walls=*/true);
  const bool random_start = settings.Choice("random_start") == "yes";
  return std::unique_ptr<Env>(new EmptyRoom(std::move(spec), std::move(world), random_start));
}

void EmptyRoom::Generate(NumpyRandom& random, GridWorld& world) const {
  world.SetWalls(world.whole());
  world.Set({world.width() - 2, world.height() - 2}, GridCell::Goal());
  if (random_start_) {
    world.PlaceAgent(random, world.whole());
  } else {
    world.SetAgent({{1, 1}, 0});
  }
}

}  // namespace lzero
