#include "envs/grid/four_rooms.h"

#include "lzero/base/status_macros.h"

namespace lzero {
namespace {

constexpr char kId[] = "minigrid/fourrooms";
constexpr int kNumRooms = 2;  // each way
constexpr int kRoomSize = FourRooms::kSize / kNumRooms;
constexpr int64_t kDefaultCap = 100;

}  // namespace

absl::StatusOr<std::unique_ptr<Env>> FourRooms::Create(const EnvOptions& options) {
  LZ_ASSIGN_OR_RETURN(EnvSpec spec, MakeSpec(kId, options, kDefaultCap));
  GridWorld world(kSize, kSize, /*sees_through_walls=*/false);
  return std::unique_ptr<Env>(new FourRooms(std::move(spec), std::move(world)));
}

void FourRooms::Generate(NumpyRandom& random, GridWorld& world) const {
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

}  // namespace lzero
