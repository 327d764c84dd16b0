#include "envs/boards/players/random_opening.h"

#include <gtest/gtest.h>

#include <set>

#include "envs/boards/tictactoe.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero::random_opening_test {
namespace {

TEST(RandomOpeningTest, TheMovesLeadToThePosition) {
  TicTacToeBoard board, trial, replayed;
  RandomStream random(3, "opening");
  const std::vector<int> moves = PlayRandomOpening(4, &board, &trial, &random);
  ASSERT_EQ(moves.size(), 4u);
  for (const int move : moves) replayed.Play(move);
  EXPECT_EQ(replayed.ToText(), board.ToText());
  EXPECT_EQ(PlayRandomOpening(0, &board, &trial, &random), std::vector<int>());
  EXPECT_EQ(replayed.ToText(), board.ToText());
}

// 9 * 8 positions after two plies.
TEST(RandomOpeningTest, EveryOpeningIsDrawn) {
  std::set<std::vector<int>> seen;
  RandomStream random(1, "opening");
  TicTacToeBoard trial;
  for (int i = 0; i < 2000; ++i) {
    TicTacToeBoard board;
    seen.insert(PlayRandomOpening(2, &board, &trial, &random));
  }
  EXPECT_EQ(seen.size(), 72u);
}

// A heap of three: after one or two taken the game may end, after which no move is quiet.
TEST(RandomOpeningTest, MovesThatEndTheGameAreNotPlayed) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    NimBoard board(3), trial(3);
    RandomStream random(seed, "opening");
    const std::vector<int> moves = PlayRandomOpening(9, &board, &trial, &random);
    EXPECT_EQ(board.heap(), 1) << seed;
    EXPECT_TRUE(moves == std::vector<int>({1}) || moves == std::vector<int>({0, 0})) << seed;
  }
}

}  // namespace
}  // namespace lzero::random_opening_test
