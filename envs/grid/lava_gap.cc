#include "envs/grid/lava_gap.h"

#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "minigrid/lavagap";

}  // namespace

std::vector<EnvSetting> LavaGap::Settings() {
  return {EnvSetting::Int("size", 7, 5, 25, "cells along a side, walls included")};
}

absl::StatusOr<std::unique_ptr<Env>> LavaGap::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(const EnvSettings settings,
                      EnvSettings::Create(kId, Settings(), options.settings));
  const int size = static_cast<int>(settings.Int("size"));
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, options, 4 * size * size));
  GridWorld world(size, size, /*sees_through_walls=*/false);
  return std::unique_ptr<Env>(new LavaGap(std::move(spec), std::move(world)));
}

void LavaGap::Generate(NumpyRandom& random, GridWorld& world) const {
  const int size = world.width();
  world.SetWalls(world.whole());
  world.SetAgent({{1, 1}, 0});
  world.Set({size - 2, size - 2}, GridCell::Goal());
  GridPlace gap;
  gap.x = static_cast<int>(random.Integers(2, size - 2));
  gap.y = static_cast<int>(random.Integers(1, size - 1));
  world.SetColumn({gap.x, 1}, size - 2, GridCell::Lava());
  world.Set(gap, GridCell::Empty());
}

}  // namespace lzero
