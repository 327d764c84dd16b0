#include "envs/boards/grading/connect4_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "tests/envs/boards/random_position.h"

namespace lzero::connect4_solver_test {
namespace {

// Columns 1 .. 7, as positions are published.
Connect4Board After(const std::string& columns) {
  Connect4Board board;
  for (const char column : columns) board.Play(column - '1');
  return board;
}

// Minimax over every line, by the rules alone: the score by the definition.
class PlainSolver {
 public:
  int Score(const Connect4Board& board) {
    if (board.finished()) {
      if (board.winner() < 0) return 0;
      const int winner_stones = (board.num_stones() + 1 - board.winner()) / 2;
      return -(22 - winner_stones);  // the mover is the loser
    }
    const auto [known, is_new] = scores_.try_emplace({board.stones(0), board.stones(1)}, -100);
    if (!is_new) return known->second;
    int best = -100;
    for (int action = 0; action < 7; ++action) {
      if (board.legal(action)) best = std::max(best, ActionScore(board, action));
    }
    return known->second = best;
  }
  int ActionScore(const Connect4Board& board, int action) {
    Connect4Board next = board;
    next.Play(action);
    return -Score(next);
  }

 private:
  std::map<std::pair<uint64_t, uint64_t>, int> scores_;  // iterators stay valid
};

int Sign(int score) { return score > 0 ? 1 : score < 0 ? -1 : 0; }

TEST(Connect4SolverTest, EqualsPlainMinimax) {
  RandomStream random(1, "solver test");
  Connect4Solver solver(14);  // a small table: entries are overwritten
  PlainSolver plain;
  std::map<int, int> seen;
  for (int i = 0; i < 80; ++i) {
    const auto position = RandomPosition(Connect4Board(), 30 + i % 10, random);
    const auto& board = dynamic_cast<const Connect4Board&>(*position);
    const int score = plain.Score(board);
    ++seen[Sign(score)];
    ASSERT_EQ(solver.Score(board), score) << board.ToText();
    ASSERT_EQ(solver.Outcome(board), Sign(score)) << board.ToText();
    std::vector<int32_t> best, optimal;
    for (int action = 0; action < 7; ++action) {
      if (!board.legal(action)) continue;
      const int action_score = plain.ActionScore(board, action);
      ASSERT_EQ(solver.ActionScore(board, action), action_score) << board.ToText();
      ASSERT_EQ(solver.ActionOutcome(board, action), Sign(action_score)) << board.ToText();
      if (action_score == score) best.push_back(action);
      if (Sign(action_score) == Sign(score)) optimal.push_back(action);
    }
    ASSERT_EQ(solver.BestActions(board), best) << board.ToText();
    ASSERT_EQ(solver.OptimalActions(board), optimal) << board.ToText();
  }
  EXPECT_GT(seen[-1], 5);
  EXPECT_GT(seen[0], 5);
  EXPECT_GT(seen[1], 5);
}

// Positions and scores that Pascal Pons published with his solver (gamesolver.org, "Test
// protocol").
TEST(Connect4SolverTest, PublishedScores) {
  const std::vector<std::pair<const char*, int>> published = {
      {"2252576253462244111563365343671351441", -1},
      {"7422341735647741166133573473242566", 1},
      {"71255763773133525731261364622167124446454", 0},
      {"52677675164321472411331752454", 0},
      {"3642756176227637211322113551637574556", 2},
      {"427566236745127177115664464254", 2},
      {"3575316255751336464276636772271112", -3},
      {"2762751722231276466633475674533", 5},
      {"6242432155656447531617622", 0},
      {"17516442226766", 8},
      {"51756773145177", -10},
      {"42434653771434", 9},
      {"43745416472735", -13},
      {"1626434452343", 13},
      {"165746146225", -11},
      {"427631264721", 10},
      {"543772563551", 14},
      {"737534232264", -10},
      {"14254", 18},
  };
  Connect4Solver solver(18);
  for (const auto& [columns, score] : published) {
    const Connect4Board board = After(columns);
    EXPECT_EQ(solver.Score(board), score) << columns;
    EXPECT_EQ(solver.Outcome(board), Sign(score)) << columns;
  }
}

TEST(Connect4SolverTest, ByHand) {
  Connect4Solver solver(12);
  // Three in column 1: the fourth stone wins now, 18 are left.
  Connect4Board board = After("121212");
  EXPECT_EQ(solver.Score(board), 18);
  EXPECT_EQ(solver.BestActions(board), std::vector<int32_t>{0});
  EXPECT_EQ(Connect4Solver::PliesToEnd(board, 18), 1);
  // Two open ends: O cannot stop both, whatever he does, and every move loses alike.
  board = After("33442");
  EXPECT_EQ(solver.Score(board), -18);
  EXPECT_EQ(solver.Outcome(board), -1);
  EXPECT_EQ(solver.BestActions(board).size(), 7u);
  EXPECT_EQ(Connect4Solver::PliesToEnd(board, -18), 2);
  // Finished: lost for who would be next; nothing to choose.
  board = After("1212121");
  EXPECT_EQ(solver.Score(board), -18);
  EXPECT_EQ(solver.Outcome(board), -1);
  EXPECT_TRUE(solver.BestActions(board).empty());
  EXPECT_TRUE(solver.OptimalActions(board).empty());
}

// Winners who are first and second to move; a draw lasts to the end of the board.
TEST(Connect4SolverTest, PliesToTheEnd) {
  EXPECT_EQ(Connect4Solver::PliesToEnd(Connect4Board(), 1), 41);
  EXPECT_EQ(Connect4Solver::PliesToEnd(Connect4Board(), -1), 42);
  EXPECT_EQ(Connect4Solver::PliesToEnd(After("1"), 1), 41);
  EXPECT_EQ(Connect4Solver::PliesToEnd(After("1"), -1), 40);
  EXPECT_EQ(Connect4Solver::PliesToEnd(After("12"), 0), 40);
}

// The best line lasts as long as the score says, and ends as it says.
TEST(Connect4SolverTest, PerfectPlayEndsAsItSays) {
  RandomStream random(2, "solver test");
  Connect4Solver solver(16);
  for (int game = 0; game < 12; ++game) {
    const auto position = RandomPosition(Connect4Board(), 20 + game, random);
    auto board = dynamic_cast<const Connect4Board&>(*position);
    const int mover = board.to_play();
    const int score = solver.Score(board);
    int plies_left = Connect4Solver::PliesToEnd(board, score);
    while (!board.finished()) {
      board.Play(solver.BestActions(board).back());
      --plies_left;
    }
    EXPECT_EQ(plies_left, 0) << position->ToText();
    EXPECT_EQ(board.winner(), score == 0 ? -1 : score > 0 ? mover : 1 - mover);
  }
}

TEST(Connect4SolverTest, WhatIsRememberedChangesNoScore) {
  Connect4Solver solver(20);
  const Connect4Board board = After("17516442226766");
  EXPECT_EQ(solver.Score(board), 8);
  const int64_t first = solver.num_positions();
  EXPECT_GT(first, 1000);
  EXPECT_EQ(solver.Score(board), 8);
  EXPECT_LT(solver.num_positions() - first, first / 10);
}

TEST(Connect4SolverDeathTest, AnOddTableIsOurBug) {
  EXPECT_DEATH(Connect4Solver(9), "a table of 2\\^9 entries");
}

}  // namespace
}  // namespace lzero::connect4_solver_test
