// MiniGrid-Empty: one room with the goal in its bottom right corner. The agent starts in the top
// left corner, facing right, or anywhere (MiniGrid-Empty-Random) with the setting random_start. The
// agent sees through walls here. Cap 4 size^2 unless set. The rest is grid_env.h's.
// [minigrid/envs/empty.py]
#include "envs/entries.h"
#include "envs/grid/grid_env.h"

namespace lzero {

EnvRegistry::Entry EmptyRoomEntry() {
  return GridEntry(
      "minigrid/empty", "reach the goal of an empty room (MiniGrid)",
      {EnvSetting::Int("size", 8, 5, 25, "cells along a side, walls included"),
       EnvSetting::Choice("random_start", {"no", "yes"}, "whether the agent starts anywhere")},
      [](const EnvSettings& given) {
        const int size = static_cast<int>(given.Int("size"));
        const bool random_start = given.Choice("random_start") == "yes";
        const auto generate = [=](NumpyRandom& random, GridWorld& world) {
          world.SetWalls(world.whole());
          world.Set({size - 2, size - 2}, GridCell::Goal());
          if (random_start) {
            world.PlaceAgent(random, world.whole());
          } else {
            world.SetAgent({{1, 1}, 0});
          }
        };
        return GridTask{size, size, 4 * size * size, generate, /*sees_through_walls=*/true};
      });
}

}  // namespace lzero
