// MiniGrid-FourRooms: four rooms of 8 x 8 cells with a gap in each wall between them, agent and
// goal anywhere. The reference's size is fixed, 19 x 19. Cap 100 unless set. The rest is
// grid_env.h's. [minigrid/envs/fourrooms.py]
#include "envs/entries.h"
#include "envs/grid/grid_env.h"

namespace lzero {
namespace {

constexpr int kSize = 19;
constexpr int kNumRooms = 2;  // each way
constexpr int kRoomSize = kSize / kNumRooms;

void Generate(NumpyRandom& random, GridWorld& world) {
  world.SetWalls(world.whole());
  for (int row = 0; row < kNumRooms; ++row) {
    for (int column = 0; column < kNumRooms; ++column) {
      const int left = column * kRoomSize;
      const int top = row * kRoomSize;
      const int right = left + kRoomSize;
      const int bottom = top + kRoomSize;
      if (column + 1 < kNumRooms) {
        world.SetColumn({right, top}, kRoomSize, GridCell::Wall());
        const int y = static_cast<int>(random.Integers(top + 1, bottom));
        world.Set({right, y}, GridCell::Empty());
      }
      if (row + 1 < kNumRooms) {
        world.SetRow({left, bottom}, kRoomSize, GridCell::Wall());
        const int x = static_cast<int>(random.Integers(left + 1, right));
        world.Set({x, bottom}, GridCell::Empty());
      }
    }
  }
  world.PlaceAgent(random, world.whole());
  world.PlaceCell(random, world.whole(), /*distance=*/1, GridCell::Goal());
}

}  // namespace

EnvRegistry::Entry FourRoomsEntry() {
  return GridEntry("minigrid/fourrooms",
                   "find the goal in four rooms with gaps (MiniGrid), cap 100", {},
                   [](const EnvSettings&) {
                     return GridTask{kSize, kSize, 100, Generate};
                   });
}

}  // namespace lzero
