#include "envs/grid/grid_world.h"

#include <gtest/gtest.h>

#include "lzero/base/rng.h"
#include "tests/envs/grid/drawn_world.h"

namespace lzero::grid_world_test {
namespace {

using Rows = std::vector<std::string>;

// The agent at (1, 1) faces (2, 1), which holds `before`.
GridWorld Facing(char before) {
  return DrawnWorld({"#####", std::string("#>") + before + ".#", "#####"});
}

// After picking up `thing`, whose place is taken by `before`.
GridWorld CarryingBefore(char thing, char before) {
  GridWorld world = Facing(thing);
  EXPECT_EQ(world.Act(GridAction::kPickUp), GridEvent::kPickedUp);
  world.Set({2, 1}, CellOfLetter(before));
  return world;
}

constexpr GridPlace kStart = {1, 1};
constexpr GridPlace kFront = {2, 1};

TEST(GridWorldTest, TurnsLeftAndRight) {
  GridWorld world = Facing('.');
  for (const int direction : {3, 2, 1, 0}) {
    EXPECT_EQ(world.Act(GridAction::kLeft), GridEvent::kNone);
    EXPECT_EQ(world.agent(), (GridAgent{kStart, direction}));
  }
  for (const int direction : {1, 2, 3, 0}) {
    EXPECT_EQ(world.Act(GridAction::kRight), GridEvent::kNone);
    EXPECT_EQ(world.agent(), (GridAgent{kStart, direction}));
  }
}

TEST(GridWorldTest, WalksWhereItCan) {
  for (const char before : {'#', 'D', 'L', 'k', 'o'}) {
    GridWorld world = Facing(before);
    EXPECT_EQ(world.Act(GridAction::kForward), GridEvent::kNone);
    EXPECT_EQ(world.agent(), (GridAgent{kStart, 0})) << before;
    EXPECT_EQ(world.at(kFront), CellOfLetter(before));
  }
  for (const char before : {'.', '_', 'G', '~'}) {
    GridWorld world = Facing(before);
    EXPECT_EQ(world.Act(GridAction::kForward), before == 'G'   ? GridEvent::kReachedGoal
                                               : before == '~' ? GridEvent::kEnteredLava
                                                               : GridEvent::kNone);
    EXPECT_EQ(world.agent(), (GridAgent{kFront, 0})) << before;
    EXPECT_EQ(world.at(kFront), CellOfLetter(before));
  }
}

TEST(GridWorldTest, WalksInEachDirection) {
  for (const auto& [letter, place] : std::vector<std::pair<char, GridPlace>>{
           {'>', {3, 2}}, {'v', {2, 3}}, {'<', {1, 2}}, {'^', {2, 1}}}) {
    GridWorld world =
        DrawnWorld({"#####", "#...#", std::string("#.") + letter + ".#", "#...#", "#####"});
    EXPECT_EQ(world.front(), place);
    world.Act(GridAction::kForward);
    EXPECT_EQ(world.agent().place, place) << letter;
  }
}

TEST(GridWorldTest, PicksUpKeysAndBallsOnly) {
  for (const char before : {'k', 'r', 'o'}) {
    GridWorld world = Facing(before);
    EXPECT_EQ(world.Act(GridAction::kPickUp), GridEvent::kPickedUp);
    EXPECT_EQ(world.carried(), CellOfLetter(before));
    EXPECT_EQ(world.at(kFront), GridCell::Empty());
    EXPECT_EQ(world.agent().place, kStart);
  }
  for (const char before : {'.', '#', '_', 'D', 'L', 'G', '~'}) {
    GridWorld world = Facing(before);
    EXPECT_EQ(world.Act(GridAction::kPickUp), GridEvent::kNone);
    EXPECT_EQ(world.carried(), GridCell::Empty()) << before;
    EXPECT_EQ(world.at(kFront), CellOfLetter(before));
  }
}

TEST(GridWorldTest, CarriesOneThing) {
  GridWorld world = CarryingBefore('k', 'o');
  EXPECT_EQ(world.Act(GridAction::kPickUp), GridEvent::kNone);
  EXPECT_EQ(world.carried(), CellOfLetter('k'));
  EXPECT_EQ(world.at(kFront), CellOfLetter('o'));
}

TEST(GridWorldTest, DropsOnEmptyCellsOnly) {
  GridWorld world = CarryingBefore('k', '.');
  EXPECT_EQ(world.Act(GridAction::kDrop), GridEvent::kNone);
  EXPECT_EQ(world.carried(), GridCell::Empty());
  EXPECT_EQ(world.at(kFront), CellOfLetter('k'));
  // With empty hands nothing happens.
  world.Act(GridAction::kDrop);
  EXPECT_EQ(world.at(kFront), CellOfLetter('k'));
  for (const char before : {'#', '_', 'D', 'L', 'o', 'r', 'G', '~'}) {
    world = CarryingBefore('k', before);
    EXPECT_EQ(world.Act(GridAction::kDrop), GridEvent::kNone);
    EXPECT_EQ(world.carried(), CellOfLetter('k')) << before;
    EXPECT_EQ(world.at(kFront), CellOfLetter(before));
  }
}

TEST(GridWorldTest, DoorsOpenAndClose) {
  GridWorld world = Facing('D');
  world.Act(GridAction::kToggle);
  EXPECT_EQ(world.at(kFront), CellOfLetter('_'));
  world.Act(GridAction::kToggle);
  EXPECT_EQ(world.at(kFront), CellOfLetter('D'));
}

TEST(GridWorldTest, LockedDoorsNeedTheKeyOfTheirColor) {
  GridWorld world = Facing('L');
  world.Act(GridAction::kToggle);
  EXPECT_EQ(world.at(kFront), CellOfLetter('L'));
  for (const char other : {'r', 'o', 'y'}) {
    world = CarryingBefore(other, 'L');
    world.Act(GridAction::kToggle);
    EXPECT_EQ(world.at(kFront), CellOfLetter('L')) << other;
  }
  world = CarryingBefore('k', 'L');
  EXPECT_EQ(world.Act(GridAction::kToggle), GridEvent::kNone);
  EXPECT_EQ(world.at(kFront), CellOfLetter('_'));
  EXPECT_EQ(world.carried(), CellOfLetter('k'));
  // From then on it is a plain door.
  world.Act(GridAction::kToggle);
  EXPECT_EQ(world.at(kFront), CellOfLetter('D'));
}

TEST(GridWorldTest, TogglingOtherThingsAndDoneDoNothing) {
  for (const char before : {'.', '#', 'k', 'o', 'G', '~', 'L', 'D', '_'}) {
    GridWorld world = Facing(before);
    const std::vector<uint8_t> bytes = world.ToBytes();
    EXPECT_EQ(world.Act(GridAction::kDone), GridEvent::kNone);
    EXPECT_EQ(world.ToBytes(), bytes);
    if (before == 'D' || before == '_') continue;
    EXPECT_EQ(world.Act(GridAction::kToggle), GridEvent::kNone);
    EXPECT_EQ(world.ToBytes(), bytes) << before;
  }
}

// A corridor, one cell wide, below a room; the agent looks up from its end.
Rows Corridor(char cell) {
  Rows rows = {"#########", "#.......#", "#..k....#", "#.......#", "####.####",
               "####.####", "####.####", "####^####", "#########"};
  rows[5][4] = cell;
  return rows;
}

TEST(GridViewTest, WallsAndShutDoorsHideWhatIsBehind) {
  for (const char cell : {'.', '_', 'k', 'o', 'G', '~'}) {
    Rows expected = {".......", "..k....", ".......", "??#.#??", "??#.#??", "??#.#??", "??#.#??"};
    expected[4][3] = cell;
    EXPECT_EQ(DrawnView(DrawnWorld(Corridor(cell)).View()), expected);
  }
  for (const char cell : {'D', 'L'}) {
    Rows expected = {"???????", "???????", "???????", "???????", "??#.#??", "??#.#??", "??#.#??"};
    expected[4][3] = cell;
    EXPECT_EQ(DrawnView(DrawnWorld(Corridor(cell)).View()), expected);
  }
  const Rows through = {".......", "..k....", ".......", "###.###",
                        "###D###", "###.###", "###.###"};
  EXPECT_EQ(DrawnView(DrawnWorld(Corridor('D'), /*sees_through_walls=*/true).View()), through);
}

// The same world from three corners of the room: the view turns with the agent, and what lies
// outside the world is wall, which hides what is behind.
TEST(GridViewTest, TurnsWithTheAgent) {
  GridWorld world = DrawnWorld(Corridor('.'));
  world.SetAgent({{1, 1}, 0});
  EXPECT_EQ(DrawnView(world.View()),
            (Rows{"??#...#", "??#...#", "??#...#", "??#....", "??#.k.#", "??#...#", "??#...#"}));
  world.SetAgent({{7, 1}, 1});
  EXPECT_EQ(DrawnView(world.View()),
            (Rows{"?????#.", "?????#.", "?????#.", "??####.", "??#....", "??#....", "??#...."}));
  world.SetAgent({{7, 3}, 2});
  EXPECT_EQ(DrawnView(world.View()),
            (Rows{"??#...#", "??#...#", "###.k.#", "......#", "??#...#", "??#...#", "??#...#"}));
}

TEST(GridViewTest, TheAgentsCellShowsWhatItCarries) {
  GridWorld world = Facing('o');
  EXPECT_EQ(world.View().at(3, 6), GridCell::Empty());
  world.Act(GridAction::kPickUp);
  EXPECT_EQ(world.View().at(3, 6), CellOfLetter('o'));
  EXPECT_EQ(world.View().at(3, 5), GridCell::Empty());
  // In a doorway the door is not shown.
  world.Set(kStart, CellOfLetter('_'));
  EXPECT_EQ(world.View().at(3, 6), CellOfLetter('o'));
}

// MiniGrid's view written down once more, cell by cell: cut out what is ahead, turn it to the left
// until it looks up, spread sight.
class PlainView {
 public:
  PlainView(const GridWorld& world, bool sees_through_walls) {
    const auto [x, y] = world.agent().place;
    const int direction = world.agent().direction;
    const int left = direction == 0 ? x : direction == 2 ? x - 6 : x - 3;
    const int top = direction == 1 ? y : direction == 3 ? y - 6 : y - 3;
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) {
        const GridPlace place = {left + i, top + j};
        cells_[i][j] = world.Contains(place) ? world.at(place) : GridCell::Wall();
      }
    }
    for (int turn = 0; turn <= direction; ++turn) TurnLeft();
    Spread(sees_through_walls);
    cells_[3][6] = world.carried();
  }

  GridCell at(int column, int row) const {
    return seen_[column][row] ? cells_[column][row] : GridCell{};
  }

 private:
  void TurnLeft() {
    const auto before = cells_;
    for (int i = 0; i < 7; ++i) {
      for (int j = 0; j < 7; ++j) cells_[j][6 - i] = before[i][j];
    }
  }
  void Spread(bool everywhere) {
    for (auto& column : seen_) column.fill(everywhere);
    seen_[3][6] = true;
    for (int j = 6; j >= 0; --j) {
      for (int i = 0; i <= 5; ++i) Pass(i, j, +1);
      for (int i = 6; i >= 1; --i) Pass(i, j, -1);
    }
  }
  void Pass(int i, int j, int step) {
    if (!seen_[i][j] || cells_[i][j].blocks_sight()) return;
    seen_[i + step][j] = true;
    if (j == 0) return;
    seen_[i + step][j - 1] = true;
    seen_[i][j - 1] = true;
  }

  std::array<std::array<GridCell, 7>, 7> cells_;  // [column][row]
  std::array<std::array<bool, 7>, 7> seen_;
};

TEST(GridViewTest, AgreesWithThePlainViewInRandomWorlds) {
  RandomStream random(1, "grid view test");
  const std::string letters = ".....###DL_kG";
  for (int round = 0; round < 500; ++round) {
    const bool through = round % 10 == 0;
    GridWorld world(3 + static_cast<int>(random.UniformInt(12)),
                    3 + static_cast<int>(random.UniformInt(12)), through);
    world.SetWalls(world.whole());
    // From nearly open to nearly full.
    const int64_t num_letters = 5 + random.UniformInt(static_cast<int64_t>(letters.size()) - 4);
    for (int y = 1; y < world.height() - 1; ++y) {
      for (int x = 1; x < world.width() - 1; ++x) {
        world.Set({x, y}, CellOfLetter(letters[random.UniformInt(num_letters)]));
      }
    }
    const GridPlace place = {1 + static_cast<int>(random.UniformInt(world.width() - 2)),
                             1 + static_cast<int>(random.UniformInt(world.height() - 2))};
    world.Set(place, GridCell::Empty());
    world.SetAgent({place, static_cast<int>(random.UniformInt(4))});
    const GridView view = world.View();
    const PlainView plain(world, through);
    for (int row = 0; row < 7; ++row) {
      for (int column = 0; column < 7; ++column) {
        ASSERT_EQ(view.at(column, row), plain.at(column, row)) << round;
        ASSERT_EQ(view.sees(column, row), plain.at(column, row) != GridCell{}) << round;
      }
    }
  }
}

TEST(GridWorldTest, NamesThePlacesOfItsView) {
  GridWorld world = DrawnWorld(Corridor('.'));  // at (4, 7), looking up
  EXPECT_EQ(world.PlaceOfView(3, 6), (GridPlace{4, 7}));
  EXPECT_EQ(world.PlaceOfView(0, 0), (GridPlace{1, 1}));
  EXPECT_EQ(world.PlaceOfView(6, 4), (GridPlace{7, 5}));
  world.SetAgent({{1, 2}, 0});
  EXPECT_EQ(world.PlaceOfView(0, 0), (GridPlace{7, -1}));
  EXPECT_FALSE(world.Contains({7, -1}));
  EXPECT_EQ(world.PlaceOfView(5, 5), (GridPlace{2, 4}));
}

TEST(GridWorldTest, PlacesThingsOnEmptyCellsAwayFromTheAgent) {
  GridWorld world = DrawnWorld({"#####", "#>.k#", "#.G.#", "#####"});
  NumpyRandom random(5);
  // Empty are (2, 1), (1, 2), beside the agent, and (3, 2).
  EXPECT_EQ(world.PlaceCell(random, world.whole(), 2, CellOfLetter('o')), (GridPlace{3, 2}));
  EXPECT_EQ(world.at({3, 2}), CellOfLetter('o'));
  EXPECT_EQ(world.PlaceCell(random, {2, 0, 3, 4}, 1, CellOfLetter('o')), (GridPlace{2, 1}));
  EXPECT_EQ(world.PlaceCell(random, {0, 2, 5, 2}, 1, CellOfLetter('o')), (GridPlace{1, 2}));
  // The agent itself may stay.
  world.PlaceAgent(random, world.whole());
  EXPECT_EQ(world.agent().place, kStart);
}

TEST(GridWorldDeathTest, AFullRectangleIsOurBug) {
  GridWorld world = DrawnWorld({"####", "#>k#", "####"});
  NumpyRandom random(5);
  EXPECT_DEATH(world.PlaceCell(random, {0, 0, 4, 3}, 1, GridCell::Goal()),
               "no empty cell in 4 x 3 cells at \\(0, 0\\)");
}

TEST(GridWorldTest, BytesKeepEverything) {
  GridWorld world = CarryingBefore('r', 'D');
  world.Act(GridAction::kRight);
  const std::vector<uint8_t> bytes = world.ToBytes();
  // 5 x 3 cells; the agent at (1, 1), looking down, with the red key (5, 0, 0).
  EXPECT_EQ(std::vector<uint8_t>(bytes.begin(), bytes.begin() + 8),
            (std::vector<uint8_t>{5, 3, 1, 1, 1, 5, 0, 0}));
  EXPECT_EQ(bytes.size(), 8u + 3 * 15);
  GridWorld other(5, 3, false);
  ASSERT_TRUE(other.SetBytes(bytes).ok());
  EXPECT_EQ(other.ToBytes(), bytes);
  EXPECT_EQ(other.carried(), CellOfLetter('r'));
  EXPECT_EQ(other.agent(), (GridAgent{kStart, 1}));
  EXPECT_EQ(other.at(kFront), CellOfLetter('D'));
}

TEST(GridWorldTest, ImpossibleBytesAreRefused) {
  GridWorld world = Facing('D');
  const std::vector<uint8_t> good = world.ToBytes();
  const auto refusal = [&](size_t position, uint8_t value) {
    std::vector<uint8_t> bad = good;
    bad[position] = value;
    const std::string message(world.SetBytes(bad).message());
    EXPECT_EQ(world.ToBytes(), good) << position;
    return message;
  };
  const size_t front = 8 + 3 * (1 * 5 + 2);
  EXPECT_EQ(refusal(0, 4), "a world of another size than 5 x 3");
  EXPECT_EQ(refusal(2, 0), "the agent is at 0, 1, direction 0");
  EXPECT_EQ(refusal(2, 2), "the agent is at 2, 1, direction 0");  // in the closed door
  EXPECT_EQ(refusal(3, 200), "the agent is at 1, 200, direction 0");
  EXPECT_EQ(refusal(4, 4), "the agent is at 1, 1, direction 4");
  EXPECT_EQ(refusal(5, 4), "the agent carries (4, 0, 0)");
  EXPECT_EQ(refusal(6, 1), "the agent carries (1, 1, 0)");
  EXPECT_EQ(refusal(8, 1), "cell 0, 0 is (1, 5, 0)");
  EXPECT_EQ(refusal(front, 3), "cell 2, 1 is (3, 4, 1)");
  EXPECT_EQ(refusal(front + 1, 6), "cell 2, 1 is (4, 6, 1)");
  EXPECT_EQ(refusal(front + 2, 3), "cell 2, 1 is (4, 4, 3)");
  EXPECT_EQ(refusal(front, 5), "cell 2, 1 is (5, 4, 1)");
  EXPECT_EQ(world.SetBytes({}).message(), "a world of another size than 5 x 3");
  // Open outer walls would let the agent leave.
  std::vector<uint8_t> open = good;
  open[8] = 1, open[9] = 0;
  EXPECT_EQ(world.SetBytes(open).message(), "cell 0, 0 is (1, 0, 0)");
}

TEST(GridWorldDeathTest, SizesAreChecked) {
  EXPECT_DEATH(GridWorld(2, 5, false), "a world of 2 x 5 cells");
  EXPECT_DEATH(GridWorld(5, 65, false), "a world of 5 x 65 cells");
}

}  // namespace
}  // namespace lzero::grid_world_test
