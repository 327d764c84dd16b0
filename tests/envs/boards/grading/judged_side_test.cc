#include "envs/boards/grading/judged_side.h"

#include <gtest/gtest.h>

#include "envs/boards/connect4.h"
#include "envs/boards/tictactoe.h"

namespace lzero::judged_side_test {
namespace {

// Chooses the lowest legal action.
class LowestSide : public MatchSide {
 public:
  void BeginGame(int, int64_t, const Board&) override {}
  void OnMove(int, int, const Board&) override {}
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override {
    std::vector<int> actions;
    for (const MatchTurn& turn : turns) {
      int action = 0;
      while (!turn.board->legal(action)) ++action;
      actions.push_back(action);
    }
    return actions;
  }
};

TicTacToeBoard After(const std::vector<int>& actions) {
  TicTacToeBoard board;
  for (const int action : actions) board = board.After(action);
  return board;
}

GradeCounts CountsOf(const std::string& game, const Board& board) {
  LowestSide side;
  JudgedSide judged(&side, MakeMoveJudge(game));
  EXPECT_TRUE(judged.ChooseActions({{0, &board}, {1, &board}}).ok());
  return judged.counts();
}

// The lowest action of each board by hand.
TEST(JudgedSide, MovesOfTicTacToeAreCompared) {
  const auto counts_of = [](const std::vector<int>& actions) {
    return CountsOf("tictactoe", After(actions));
  };
  // Every first move draws; after the middle only corners do; 0 leaves O its line at 6.
  const GradeCounts empty = counts_of({}), corner = counts_of({4}),
                    missed = counts_of({3, 7, 2, 8});
  EXPECT_EQ(empty.num_positions, 2);
  EXPECT_EQ(empty.num_nontrivial, 0);
  EXPECT_EQ(corner.num_nontrivial_optimal, 2);
  EXPECT_EQ(missed.num_nontrivial, 2);
  EXPECT_EQ(missed.num_optimal, 0);
}

TEST(JudgedSide, ConnectFourIsComparedFromTwelveStonesOn) {
  Connect4Board board;
  for (int i = 0; i < 11; ++i) board = board.After("33333356565"[i] - '0');
  EXPECT_EQ(CountsOf("connect4", board).num_positions, 0);
  EXPECT_EQ(CountsOf("connect4", board.After(1)).num_positions, 2);
}

TEST(JudgedSide, OtherGamesHaveNoJudge) { EXPECT_EQ(MakeMoveJudge("go"), nullptr); }

}  // namespace
}  // namespace lzero::judged_side_test
