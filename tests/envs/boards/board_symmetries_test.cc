#include "envs/boards/board_symmetries.h"

#include <set>

#include "gtest/gtest.h"

namespace lzero::board_symmetries_test {
namespace {

TEST(BoardSymmetriesTest, TheEightOfTheSquareByHand) {
  // 0 1 2
  // 3 4 5   the image of squares 0, 1, 2 under each rotation and reflection
  // 6 7 8
  const std::set<std::vector<int32_t>> expected = {{0, 1, 2}, {2, 5, 8}, {8, 7, 6}, {6, 3, 0},
                                                   {2, 1, 0}, {8, 5, 2}, {6, 7, 8}, {0, 3, 6}};
  std::set<std::vector<int32_t>> found;
  for (const Symmetry& symmetry : SquareBoardSymmetries(3, 2)) {
    EXPECT_EQ(SymmetryProblem(symmetry, 18, 9), "");
    EXPECT_EQ(symmetry.action_image[4], 4);
    found.insert({symmetry.action_image.begin(), symmetry.action_image.begin() + 3});
  }
  EXPECT_EQ(found, expected);
}

TEST(BoardSymmetriesTest, TheFirstIsTheIdentity) {
  const Symmetry identity = SquareBoardSymmetries(4, 3)[0];
  for (int i = 0; i < 48; ++i) EXPECT_EQ(identity.observation_source[i], i);
  for (int i = 0; i < 16; ++i) EXPECT_EQ(identity.action_image[i], i);
}

// A stone goes where an action on its square goes, in its plane.
TEST(BoardSymmetriesTest, StonesAndActionsMoveAlike) {
  constexpr int kSquares = 25;
  for (const Symmetry& symmetry : SquareBoardSymmetries(5, 2)) {
    for (int stone = 0; stone < 2 * kSquares; ++stone) {
      std::vector<float> board(2 * kSquares, 0.0f), image(2 * kSquares);
      board[stone] = 1.0f;
      MapObservation(symmetry, board, absl::MakeSpan(image));
      const int plane = stone / kSquares;
      EXPECT_EQ(image[plane * kSquares + symmetry.action_image[stone % kSquares]], 1.0f);
    }
  }
}

TEST(BoardSymmetriesTest, OtherActionsStay) {
  for (const Symmetry& symmetry : SquareBoardSymmetries(3, 1, 2)) {
    EXPECT_EQ(SymmetryProblem(symmetry, 9, 11), "");
    EXPECT_EQ(symmetry.action_image[9], 9);
    EXPECT_EQ(symmetry.action_image[10], 10);
  }
}

TEST(BoardSymmetriesTest, TheHalfTurnReversesTheSquares) {
  const std::vector<Symmetry> symmetries = HalfTurnSymmetries(3, 2);
  ASSERT_EQ(symmetries.size(), 2u);
  EXPECT_EQ(symmetries[0].action_image, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(symmetries[1].action_image, (std::vector<int32_t>{8, 7, 6, 5, 4, 3, 2, 1, 0}));
  for (int plane = 0; plane < 2; ++plane) {
    for (int i = 0; i < 9; ++i) {
      EXPECT_EQ(symmetries[1].observation_source[9 * plane + i], 9 * plane + 8 - i);
    }
  }
}

TEST(BoardSymmetriesTest, ColumnsAreMirroredByHand) {
  const std::vector<Symmetry> symmetries = ColumnBoardSymmetries(2, 3, 2);
  ASSERT_EQ(symmetries.size(), 2u);
  EXPECT_EQ(symmetries[0].action_image, (std::vector<int32_t>{0, 1, 2}));
  EXPECT_EQ(symmetries[0].observation_source,
            (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}));
  EXPECT_EQ(symmetries[1].action_image, (std::vector<int32_t>{2, 1, 0}));
  EXPECT_EQ(symmetries[1].observation_source,
            (std::vector<int32_t>{2, 1, 0, 5, 4, 3, 8, 7, 6, 11, 10, 9}));
  for (const Symmetry& symmetry : symmetries) EXPECT_EQ(SymmetryProblem(symmetry, 12, 3), "");
}

}  // namespace
}  // namespace lzero::board_symmetries_test
