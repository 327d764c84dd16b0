// MiniGrid-LavaGap: a strip of lava with one gap between the agent, top left, and the goal, bottom
// right. Cap 4 size^2 unless set. The rest is grid_env.h's. [minigrid/envs/lavagap.py]
#include "envs/entries.h"
#include "envs/grid/grid_env.h"

namespace lzero {
namespace {

void Generate(NumpyRandom& random, GridWorld& world) {
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

}  // namespace

EnvRegistry::Entry LavaGapEntry() {
  return GridEntry("minigrid/lavagap", "pass a gap in a strip of lava (MiniGrid)",
                   {EnvSetting::Int("size", 7, 5, 25, "cells along a side, walls included")},
                   [](const EnvSettings& given) {
                     const int size = static_cast<int>(given.Int("size"));
                     return GridTask{size, size, 4 * size * size, Generate};
                   });
}

}  // namespace lzero
