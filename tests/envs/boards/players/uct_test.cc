#include "envs/boards/players/uct.h"

#include <gtest/gtest.h>

#include <set>

#include "envs/boards/connect4.h"
#include "envs/boards/grading/tictactoe_solver.h"
#include "envs/boards/tictactoe.h"
#include "tests/envs/boards/nim_board.h"
#include "tests/envs/boards/random_position.h"
#include "tests/envs/boards/start_board.h"

namespace lzero::uct_test {
namespace {

// Actions that win at once.
std::set<int> WinsInOne(const Board& board) {
  std::set<int> wins;
  for (int action = 0; action < board.num_actions(); ++action) {
    if (!board.legal(action)) continue;
    const std::unique_ptr<Board> next = board.Clone();
    next->Play(action);
    if (next->finished() && next->winner() == board.to_play()) wins.insert(action);
  }
  return wins;
}

TEST(UctTest, FindsWinsInOne) {
  RandomStream random(1, "uct test");
  const TicTacToeBoard tictactoe;
  const Connect4Board connect4;
  const auto gomoku = GomokuBoard(6);
  const std::vector<std::pair<const Board*, int>> starts = {
      {&tictactoe, 5}, {&connect4, 16}, {gomoku.get(), 20}};
  int num_seen = 0;
  for (int i = 0; i < 40; ++i) {
    for (const auto& [start, plies] : starts) {
      const std::unique_ptr<Board> board = RandomPosition(*start, plies, random);
      const std::set<int> wins = WinsInOne(*board);
      if (wins.empty()) continue;
      ++num_seen;
      EXPECT_EQ(wins.count(UctPlayer(1000, i).ChooseAction(*board)), 1u) << board->ToText();
    }
  }
  EXPECT_GT(num_seen, 20);
}

// With enough simulations the choice is that of perfect play, here in all positions after 4 moves
// of one line, and the value that of the game.
TEST(UctTest, FindsPerfectMoves) {
  const TicTacToeSolver solver;
  TicTacToeBoard board;
  UctPlayer player(4000, 3);
  while (!board.finished()) {
    const int action = player.ChooseAction(board);
    const std::vector<int32_t> optimal = solver.OptimalActions(board);
    EXPECT_NE(std::find(optimal.begin(), optimal.end(), action), optimal.end()) << board.ToText();
    board = board.After(action);
  }
  EXPECT_EQ(board.winner(), -1);
  // Nim: leave a multiple of three; in misere play one more.
  for (const int heap : {4, 5, 7, 8}) {
    EXPECT_EQ(player.ChooseAction(NimBoard(heap)), heap % 3 - 1) << heap;
  }
  for (const int heap : {3, 5, 6, 8}) {
    EXPECT_EQ(player.ChooseAction(NimBoard(heap, true)), (heap - 1) % 3 - 1) << heap;
  }
}

TEST(UctTest, StatisticsAddUp) {
  UctPlayer player(500, 1);
  EXPECT_TRUE(player.stats().empty());
  const int action = player.ChooseAction(Connect4Board());
  int64_t visits = 0;
  int64_t most = 0;
  for (const UctPlayer::ActionStats& stats : player.stats()) {
    visits += stats.num_visits;
    most = std::max(most, stats.num_visits);
    EXPECT_LE(std::abs(stats.mean_value), 1.0);
  }
  EXPECT_EQ(visits, 500);
  EXPECT_EQ(player.stats().size(), 7u);
  for (const UctPlayer::ActionStats& stats : player.stats()) {
    if (stats.action == action) {
      EXPECT_EQ(stats.num_visits, most);
    }
  }
  // A single way to go, known to lose: every game ends there.
  player.ChooseAction(NimBoard(1, true));
  ASSERT_EQ(player.stats().size(), 1u);
  EXPECT_EQ(player.stats()[0].num_visits, 500);
  EXPECT_EQ(player.stats()[0].mean_value, -1.0);
}

TEST(UctTest, FewSimulationsTryDifferentActions) {
  UctPlayer player(5, 9);
  player.ChooseAction(*GomokuBoard(5));
  std::set<int> tried;
  for (const UctPlayer::ActionStats& stats : player.stats()) tried.insert(stats.action);
  EXPECT_EQ(tried.size(), 5u);
}

TEST(UctTest, TheSeedDecides) {
  std::set<int> chosen;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const int action = UctPlayer(20, seed).ChooseAction(*GomokuBoard(9));
    EXPECT_EQ(UctPlayer(20, seed).ChooseAction(*GomokuBoard(9)), action);
    chosen.insert(action);
  }
  EXPECT_GT(chosen.size(), 5u);
}

TEST(UctDeathTest, FinishedBoardsAndNoSimulationsAreOurBug) {
  EXPECT_DEATH(UctPlayer(1, 0).ChooseAction(NimBoard(0)), "a finished game");
  EXPECT_DEATH(UctPlayer(0, 0), "0 simulations");
}

}  // namespace
}  // namespace lzero::uct_test
