#include "envs/grid/room_grid.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/envs/grid/drawn_world.h"

namespace lzero::room_grid_test {
namespace {

struct Rooms {
  Rooms(int room_size, int num_columns, int num_rows, uint64_t seed)
      : random(seed),
        world(RoomGrid::WorldSize(room_size, num_columns), RoomGrid::WorldSize(room_size, num_rows),
              false),
        grid(room_size, num_columns, num_rows, &random, &world) {}

  NumpyRandom random;
  GridWorld world;
  RoomGrid grid;
};

// Rows of letters, without the agent.
std::vector<std::string> Drawn(const GridWorld& world) {
  std::vector<std::string> rows(world.height());
  for (int y = 0; y < world.height(); ++y) {
    for (int x = 0; x < world.width(); ++x) rows[y] += LetterOf(world.at({x, y}));
  }
  return rows;
}

// Cells that can be walked to from the agent when every door stands open.
int CountReachable(const GridWorld& world) {
  std::vector<GridPlace> waiting = {world.agent().place};
  std::map<std::pair<int, int>, bool> reached;
  while (!waiting.empty()) {
    const GridPlace place = waiting.back();
    waiting.pop_back();
    if (world.at(place) == GridCell::Wall() || reached[{place.x, place.y}]) continue;
    reached[{place.x, place.y}] = true;
    for (const GridPlace& step : {GridPlace{1, 0}, {-1, 0}, {0, 1}, {0, -1}}) {
      waiting.push_back({place.x + step.x, place.y + step.y});
    }
  }
  int count = 0;
  for (const auto& [place, is_reached] : reached) count += is_reached ? 1 : 0;
  return count;
}

int CountCells(const GridWorld& world, GridObject object) {
  int count = 0;
  for (int y = 0; y < world.height(); ++y) {
    for (int x = 0; x < world.width(); ++x) count += world.at({x, y}).object == object ? 1 : 0;
  }
  return count;
}

TEST(RoomGridTest, RoomsShareWalls) {
  Rooms rooms(4, 3, 2, 1);
  EXPECT_EQ(Drawn(rooms.world),
            (std::vector<std::string>{"##########", "#..#..#..#", "#..#..#..#", "##########",
                                      "#..#..#..#", "#..#..#..#", "##########"}));
  // The middle of the middle room; of two rows the lower one.
  EXPECT_EQ(rooms.world.agent(), (GridAgent{{5, 5}, 0}));
}

TEST(RoomGridTest, WallsAreRemovedOnEachSide) {
  const std::map<RoomGrid::Side, std::vector<std::string>> expected = {
      {RoomGrid::kRight,
       {"#######", "#..#..#", "#..#..#", "#######", "#.....#", "#.....#", "#######"}},
      {RoomGrid::kUp,
       {"#######", "#..#..#", "#..#..#", "#..####", "#..#..#", "#..#..#", "#######"}}};
  for (const auto& [side, rows] : expected) {
    Rooms rooms(4, 2, 2, 1);
    rooms.grid.RemoveWall(0, 1, side);
    EXPECT_EQ(Drawn(rooms.world), rows);
    // The same walls from the other side.
    Rooms others(4, 2, 2, 1);
    if (side == RoomGrid::kRight) {
      others.grid.RemoveWall(1, 1, RoomGrid::kLeft);
    } else {
      others.grid.RemoveWall(0, 0, RoomGrid::kDown);
    }
    EXPECT_EQ(Drawn(others.world), rows);
  }
}

// A door of the lower right room of 2 x 2 rooms of 5 cells is in the wall that it shares.
TEST(RoomGridTest, DoorsAreInTheWallBetween) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    Rooms rooms(5, 2, 2, seed);
    rooms.grid.AddDoor(1, 1, RoomGrid::kLeft, GridColor::kRed, DoorState::kLocked);
    rooms.grid.AddDoor(1, 1, RoomGrid::kUp, GridColor::kBlue, DoorState::kClosed);
    int num_doors = 0;
    for (int i = 1; i <= 3; ++i) {
      const GridCell& left = rooms.world.at({4, 4 + i});
      const GridCell& up = rooms.world.at({4 + i, 4});
      if (left == GridCell::Door(GridColor::kRed, DoorState::kLocked)) num_doors += 1;
      if (up == GridCell::Door(GridColor::kBlue, DoorState::kClosed)) num_doors += 10;
    }
    EXPECT_EQ(num_doors, 11);
    EXPECT_EQ(CountCells(rooms.world, GridObject::kDoor), 2);
  }
}

TEST(RoomGridTest, ThingsKeepAwayFromTheAgent) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    // The agent is in the middle of the only room, which has 9 free cells.
    Rooms rooms(5, 1, 1, seed);
    for (int i = 0; i < 4; ++i) rooms.grid.AddThing(0, 0, CellOfLetter('k'));
    EXPECT_EQ(Drawn(rooms.world),
              (std::vector<std::string>{"#####", "#k.k#", "#...#", "#k.k#", "#####"}));
  }
}

TEST(RoomGridTest, TheAgentNeverFacesAThing) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rooms rooms(5, 2, 1, seed);
    rooms.grid.AddDoor(0, 0, RoomGrid::kRight, GridColor::kRed, DoorState::kClosed);
    rooms.grid.AddThing(0, 0, CellOfLetter('k'));
    rooms.grid.PlaceAgent(0, 0);
    const GridAgent& agent = rooms.world.agent();
    EXPECT_LT(agent.place.x, 4);
    EXPECT_EQ(rooms.world.at(agent.place), GridCell::Empty());
    const GridCell& before = rooms.world.at(rooms.world.front());
    EXPECT_TRUE(before == GridCell::Empty() || before == GridCell::Wall()) << seed;
  }
}

// 9 rooms of 4 free cells, a locked one with a single door: a tree of doors reaches them all.
TEST(RoomGridTest, ConnectsAllRoomsButThroughTheLockedOne) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Rooms rooms(4, 3, 3, seed);
    rooms.grid.AddDoor(2, 1, RoomGrid::kLeft, GridColor::kRed, DoorState::kLocked);
    rooms.grid.ConnectAll();
    const int num_doors = CountCells(rooms.world, GridObject::kDoor);
    EXPECT_GE(num_doors, 8);
    EXPECT_EQ(CountReachable(rooms.world), 9 * 4 + num_doors) << seed;
    for (int i = 0; i < 4; ++i) {
      // No door above, below or at the right of the locked room, from (6, 3) to (9, 6).
      EXPECT_EQ(rooms.world.at({6 + i, 3}), GridCell::Wall());
      EXPECT_EQ(rooms.world.at({6 + i, 6}), GridCell::Wall());
    }
  }
}

TEST(RoomGridTest, AllColorsAreDrawn) {
  NumpyRandom random(3);
  std::map<GridColor, int> counts;
  for (int i = 0; i < 600; ++i) ++counts[DrawGridColor(random)];
  EXPECT_EQ(counts.size(), 6u);
  // 100 expected of each; 55 is 5 standard deviations away.
  for (const auto& [color, count] : counts) EXPECT_GT(count, 55) << static_cast<int>(color);
}

TEST(RoomGridDeathTest, WrongUseIsOurBug) {
  Rooms rooms(4, 2, 1, 1);
  EXPECT_DEATH(rooms.grid.RemoveWall(0, 0, RoomGrid::kUp),
               "side 3 of room 0, 0 has no neighbour or is open");
  rooms.grid.RemoveWall(0, 0, RoomGrid::kRight);
  EXPECT_DEATH(rooms.grid.AddDoor(1, 0, RoomGrid::kLeft, GridColor::kRed, DoorState::kClosed),
               "side 2 of room 1, 0 has no neighbour or is open");
  EXPECT_DEATH(RoomGrid(5, 2, 1, &rooms.random, &rooms.world),
               "2 x 1 rooms of 5 cells in a world of 7 x 4");
}

}  // namespace
}  // namespace lzero::room_grid_test
