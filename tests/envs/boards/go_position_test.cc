#include "envs/boards/go_position.h"

#include <gtest/gtest.h>

#include "lzero/base/rng.h"
#include "tests/envs/boards/go_diagram.h"

namespace lzero::go_position_test {
namespace {

using Rows = std::vector<std::string>;

Rows Draw(const GoPosition& position) {
  Rows rows(position.size(), std::string(position.size(), '.'));
  for (int point = 0; point < position.num_points(); ++point) {
    const int stone = position.StoneAt(point);
    char& drawn = rows[position.size() - 1 - point / position.size()][point % position.size()];
    if (stone >= 0) drawn = stone == 0 ? 'X' : 'O';
  }
  return rows;
}

int At(const char* name, const GoPosition& position) { return PointNamed(name, position.size()); }

TEST(GoPositionTest, OneStoneIsTakenInTheCornerAtTheEdgeAndInside) {
  GoPosition position = PositionOf({"OX...",  //
                                    "....X",  //
                                    ".X.XO",  //
                                    "XO...",  //
                                    ".X..."});
  for (const char* name : {"A4", "C2", "E2"}) {
    EXPECT_EQ(position.Place(0, At(name, position)), 1) << name;
    EXPECT_EQ(position.ko_point(), GoPosition::kNoPoint) << name;  // the taker has two liberties
  }
  EXPECT_EQ(Draw(position), (Rows{".X...",  //
                                  "X...X",  //
                                  ".X.X.",  //
                                  "X.X.X",  //
                                  ".X..."}));
}

// C3 touches the chain of three stones twice, and a single one once.
TEST(GoPositionTest, ChainsAreTakenWholeAndOnce) {
  GoPosition position = PositionOf({".XX..",  //
                                    "XOOX.",  //
                                    "XO.OX",  //
                                    ".XXXX",  //
                                    "....."});
  EXPECT_EQ(position.HashAfter(0, At("C3", position)),
            PositionOf({".XX..", "X..X.", "X.X.X", ".XXXX", "....."}).hash());
  EXPECT_EQ(position.Place(0, At("C3", position)), 4);
  EXPECT_EQ(Draw(position), (Rows{".XX..",  //
                                  "X..X.",  //
                                  "X.X.X",  //
                                  ".XXXX",  //
                                  "....."}));
  EXPECT_EQ(position.ko_point(), GoPosition::kNoPoint);
}

// Chains that were joined in another order, and lost and won liberties.
TEST(GoPositionTest, JoinedChainsShareTheirLiberties) {
  GoPosition position = PositionOf({"X.X..",  //
                                    ".....",  //
                                    "X.X..",  //
                                    ".....",  //
                                    "....."});
  for (const char* name : {"B5", "B3", "A4", "C4"}) position.Place(0, At(name, position));
  // The ring keeps its inner point alone when white stands around it.
  for (const char* name : {"A2", "B2", "C2", "D3", "D4", "D5"}) {
    EXPECT_FALSE(position.CanPlace(1, At("B4", position)));
    position.Place(1, At(name, position));
  }
  EXPECT_TRUE(position.CanPlace(1, At("B4", position)));
  EXPECT_FALSE(position.CanPlace(0, At("B4", position)));
  EXPECT_EQ(position.Place(1, At("B4", position)), 8);
  EXPECT_EQ(Draw(position), (Rows{"...O.",  //
                                  ".O.O.",  //
                                  "...O.",  //
                                  "OOO..",  //
                                  "....."}));
}

TEST(GoPositionTest, SuicideIsRefused) {
  const GoPosition position = PositionOf({".O.X.",  //
                                          "O.OXX",  //
                                          ".O.O.",  //
                                          "OO..O",  //
                                          ".XO.."});
  EXPECT_FALSE(position.CanPlace(0, At("A5", position)));  // one stone in the corner
  EXPECT_FALSE(position.CanPlace(0, At("B4", position)));  // one stone inside
  EXPECT_FALSE(position.CanPlace(0, At("A1", position)));  // of two stones
  EXPECT_TRUE(position.CanPlace(1, At("A5", position)));
  EXPECT_TRUE(position.CanPlace(1, At("A1", position)));   // takes one
  EXPECT_TRUE(position.CanPlace(0, At("E5", position)));   // fills an eye that is not the last
  EXPECT_FALSE(position.CanPlace(0, At("B5", position)));  // not free
  std::vector<uint8_t> mask(25);
  position.FillPlaceable(0, absl::MakeSpan(mask));
  for (int point = 0; point < 25; ++point) EXPECT_EQ(mask[point], position.CanPlace(0, point));
}

// B1 and the stone beside it have no liberty but those of the three stones that they take.
TEST(GoPositionTest, TakingComesBeforeSuicide) {
  GoPosition position = PositionOf({".....",  //
                                    ".....",  //
                                    "XX...",  //
                                    "OOX..",  //
                                    "X.OX."});
  EXPECT_EQ(position.Place(0, At("B1", position)), 3);
  EXPECT_EQ(Draw(position), (Rows{".....",  //
                                  ".....",  //
                                  "XX...",  //
                                  "..X..",  //
                                  "XX.X."}));
}

TEST(GoPositionTest, KoIsOneStoneForOneStone) {
  GoPosition position = PositionOf({".....",  //
                                    ".XO..",  //
                                    "XO.O.",  //
                                    ".XO..",  //
                                    "....."});
  EXPECT_EQ(position.Place(0, At("C3", position)), 1);
  EXPECT_EQ(position.ko_point(), At("B3", position));
  EXPECT_TRUE(position.CanPlace(1, At("B3", position)));  // ko is for the game to ask
  position.Place(1, At("E5", position));
  EXPECT_EQ(position.ko_point(), GoPosition::kNoPoint);
  EXPECT_EQ(position.Place(1, At("B3", position)), 1);
  EXPECT_EQ(position.ko_point(), At("C3", position));
  position.ForgetKo();
  EXPECT_EQ(position.ko_point(), GoPosition::kNoPoint);
}

// Snapback: the stone that takes one is taken at once, with its chain.
TEST(GoPositionTest, ASnapbackIsNoKo) {
  GoPosition position = PositionOf({".....",  //
                                    "XXXX.",  //
                                    "OOX..",  //
                                    "XOX..",  //
                                    ".OX.."});
  EXPECT_EQ(position.Place(1, At("A1", position)), 1);  // white takes A2 ...
  EXPECT_EQ(position.ko_point(), GoPosition::kNoPoint);
  EXPECT_EQ(position.Place(0, At("A2", position)), 5);  // ... and loses everything
  EXPECT_EQ(Draw(position), (Rows{".....",              //
                                  "XXXX.",              //
                                  "..X..",              //
                                  "X.X..",              //
                                  "..X.."}));
}

TEST(GoPositionTest, TheHashIsThatOfTheStones) {
  RandomStream random(1, "go position test");
  for (const int size : {2, 5, 9, 19}) {
    GoPosition position(size);
    for (int move = 0; move < 4 * size * size; ++move) {
      const int player = move % 2;
      const int point = static_cast<int>(random.UniformInt(size * size));
      if (!position.CanPlace(player, point)) continue;
      const uint64_t expected = position.HashAfter(player, point);
      position.Place(player, point);
      EXPECT_EQ(position.hash(), expected);
      if (move % size > 0) continue;  // the next is slow
      EXPECT_EQ(PositionOf(Draw(position)).hash(), expected);
    }
  }
  EXPECT_NE(PositionOf({"X.", ".."}).hash(), PositionOf({"O.", ".."}).hash());
  EXPECT_NE(PositionOf({"X.", ".."}).hash(), PositionOf({".X", ".."}).hash());
}

// By hand: stones 8 and 6; black alone touches A5, B5, A4 and A2, white alone E2 and E1; the middle
// regions touch both, as in seki.
TEST(GoPositionTest, AreaIsStonesAndWhatOneSideAloneTouches) {
  EXPECT_EQ(PositionOf({"..X.O",  //
                        ".XX.O",  //
                        "XX.OO",  //
                        ".X.O.",  //
                        "XX.O."})
                .AreaLead(),
            (8 + 4) - (6 + 2));
  EXPECT_EQ(GoPosition(5).AreaLead(), 0);
  EXPECT_EQ(PositionOf({".....", ".....", "..X..", ".....", "....."}).AreaLead(), 25);
  EXPECT_EQ(PositionOf({".....", ".....", "..X..", ".....", "....O"}).AreaLead(), 0);
}

TEST(GoPositionTest, NearerStonesCountFreePoints) {
  EXPECT_EQ(PositionOf({".X.O.", ".....", ".....", ".....", "....."}).NearerLead(), 0);
  EXPECT_EQ(PositionOf({"X....", ".....", ".....", ".....", "....O"}).NearerLead(), 0);
  // Black has columns A to C, white D and E.
  EXPECT_EQ(PositionOf({".X..O", ".....", ".....", ".....", "....."}).NearerLead(), 15 - 10);
  // Black has columns A to C, white E, and nobody D.
  EXPECT_EQ(PositionOf({"..X.O", ".....", ".....", ".....", "....."}).NearerLead(), 15 - 5);
  EXPECT_EQ(GoPosition(5).NearerLead(), 0);
}

}  // namespace
}  // namespace lzero::go_position_test
