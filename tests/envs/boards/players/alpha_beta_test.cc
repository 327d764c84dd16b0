#include "envs/boards/players/alpha_beta.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "envs/boards/connect4.h"
#include "envs/boards/players/match.h"
#include "envs/boards/players/opponents.h"
#include "envs/boards/tictactoe.h"
#include "tests/envs/boards/nim_board.h"
#include "tests/envs/boards/random_position.h"
#include "tests/envs/boards/start_board.h"

namespace lzero::alpha_beta_test {
namespace {

// The same without windows and without an order of moves: every line is looked at.
double PlainValue(const Board& board, int ply, int depth) {
  if (board.finished()) {
    if (board.winner() < 0) return 0.0;
    return (board.winner() == board.to_play() ? 1.0 : -1.0) * (1000.0 - ply);
  }
  if (ply == depth) return board.Estimate();
  double best = -1e9;
  for (int action = 0; action < board.num_actions(); ++action) {
    if (!board.legal(action)) continue;
    const std::unique_ptr<Board> next = board.Clone();
    next->Play(action);
    const double value = PlainValue(*next, ply + 1, depth);
    best = std::max(best, next->to_play() == board.to_play() ? value : -value);
  }
  return best;
}

std::vector<int> PlainBestActions(const Board& board, int depth) {
  std::vector<int> best;
  double best_value = -1e9;
  for (int action = 0; action < board.num_actions(); ++action) {
    if (!board.legal(action)) continue;
    const std::unique_ptr<Board> next = board.Clone();
    next->Play(action);
    const double value = -PlainValue(*next, 1, depth);
    if (value > best_value) best.clear();
    best_value = std::max(best_value, value);
    if (value == best_value) best.push_back(action);
  }
  return best;
}

void ExpectAsPlain(const Board& board, int depth) {
  const AlphaBetaPlayer::Analysis analysis = AlphaBetaPlayer(depth, 0).Analyze(board);
  EXPECT_EQ(analysis.value, PlainValue(board, 0, depth)) << board.ToText();
  EXPECT_EQ(analysis.best_actions, PlainBestActions(board, depth)) << board.ToText();
}

TEST(AlphaBetaTest, NimByHand) {
  // A heap of 4: take one and leave 3, which wins at ply 3 whatever the other takes.
  AlphaBetaPlayer player(10, 0);
  AlphaBetaPlayer::Analysis analysis = player.Analyze(NimBoard(4));
  EXPECT_EQ(analysis.value, 997.0);
  EXPECT_EQ(analysis.best_actions, std::vector<int>{0});
  // With a heap of 3 everything loses at ply 2: after 1 the other takes 2, after 2 he takes 1.
  analysis = player.Analyze(NimBoard(3));
  EXPECT_EQ(analysis.value, -998.0);
  EXPECT_EQ(analysis.best_actions, (std::vector<int>{0, 1}));
  // In misere play the mover of the last one loses it.
  EXPECT_EQ(player.Analyze(NimBoard(1, true)).value, -999.0);
  EXPECT_EQ(player.Analyze(NimBoard(3, true)).best_actions, std::vector<int>{1});
  // Two plies do not see the end of a heap of 9, and Nim has no estimate.
  EXPECT_EQ(AlphaBetaPlayer(2, 0).Analyze(NimBoard(9)).value, 0.0);
}

TEST(AlphaBetaTest, EqualsPlainMinimax) {
  for (int heap = 1; heap <= 9; ++heap) {
    for (const int depth : {1, 2, 5, 12}) ExpectAsPlain(NimBoard(heap, heap % 2 == 0), depth);
  }
  RandomStream random(1, "alpha-beta test");
  for (int i = 0; i < 12; ++i) {
    ExpectAsPlain(*RandomPosition(TicTacToeBoard(), 4 + i % 4, random), 1 + i % 6);
    ExpectAsPlain(*RandomPosition(Connect4Board(), 5 + 2 * i, random), 1 + i % 3);
    ExpectAsPlain(*RandomPosition(*GomokuBoard(5), 10 + i, random), 1 + i % 2);
    ExpectAsPlain(*RandomPosition(*StartBoard(HexEntry(), {{"board_size", "4"}}), i % 7, random),
                  1 + i % 3);
  }
}

// Takes two before it tries one, and tells what is played on it and on its copies.
class UrgentNim : public NimBoard {
 public:
  UrgentNim(int heap, std::vector<int>* played) : NimBoard(heap), played_(played) {}

  std::unique_ptr<Board> Clone() const override { return std::make_unique<UrgentNim>(*this); }
  int Urgency(int action) const override { return action; }
  void Play(int action) override {
    played_->push_back(action);
    NimBoard::Play(action);
  }

 private:
  std::vector<int>* played_;
};

TEST(AlphaBetaTest, TriesUrgentMovesFirst) {
  std::vector<int> played;
  AlphaBetaPlayer(1, 0).Analyze(UrgentNim(5, &played));
  EXPECT_EQ(played, (std::vector<int>{1, 0}));
  played.clear();
  EXPECT_EQ(AlphaBetaPlayer(9, 0).Analyze(UrgentNim(7, &played)).value,
            AlphaBetaPlayer(9, 0).Analyze(NimBoard(7)).value);
}

// The windows must save most of the work: plain negamax looks at 7 + 49 + ... + 7^6 positions.
TEST(AlphaBetaTest, LooksAtFewPositions) {
  AlphaBetaPlayer player(6, 0);
  EXPECT_LT(player.Analyze(Connect4Board()).num_positions, 137256 / 4);
}

// Follows every line of the opponent; the player's choice in a position is asked for once.
void PlayAllLines(const TicTacToeBoard& board, int agent, AlphaBetaPlayer& player,
                  std::map<std::string, int>& choices, std::set<int>& winners) {
  if (board.finished()) {
    winners.insert(board.winner());
    return;
  }
  if (board.to_play() == agent) {
    const auto [choice, inserted] = choices.try_emplace(board.ToText(), 0);
    if (inserted) choice->second = player.ChooseAction(board);
    PlayAllLines(board.After(choice->second), agent, player, choices, winners);
    return;
  }
  for (int action = 0; action < 9; ++action) {
    if (board.legal(action)) {
      PlayAllLines(board.After(action), agent, player, choices, winners);
    }
  }
}

TEST(AlphaBetaTest, WholeLookAheadNeverLosesTicTacToe) {
  for (const int agent : {0, 1}) {
    AlphaBetaPlayer player(9, 7);
    std::map<std::string, int> choices;
    std::set<int> winners;
    PlayAllLines(TicTacToeBoard(), agent, player, choices, winners);
    EXPECT_EQ(winners, (std::set<int>{-1, agent}));
  }
}

TEST(AlphaBetaTest, TwoPliesNearlyAlwaysBeatARandomPlayer) {
  for (const auto& make : {TicTacToeEntry().factory, Connect4Entry().factory}) {
    const auto env = *make({});
    ThreadPool pool(1);
    const auto player = *MakeOpponentSide("alpha_beta:2", 1, &pool);
    const auto random = *MakeOpponentSide("random", 2, &pool);
    MatchPlan plan;
    plan.num_games = 200;
    const MatchScore score =
        PlayMatch(dynamic_cast<BoardEnv&>(*env), *player, *random, plan)->total();
    EXPECT_GE(score.points_fraction(), 0.8) << env->spec().id;
    EXPECT_LE(score.losses, 20) << env->spec().id;
  }
}

TEST(AlphaBetaTest, TheSeedDecidesBetweenEquals) {
  std::set<int> chosen;
  for (uint64_t seed = 0; seed < 100; ++seed) {
    chosen.insert(AlphaBetaPlayer(9, seed).ChooseAction(NimBoard(9)));
    EXPECT_EQ(AlphaBetaPlayer(1, seed).ChooseAction(NimBoard(9)),
              AlphaBetaPlayer(1, seed).ChooseAction(NimBoard(9)));
  }
  EXPECT_EQ(chosen, (std::set<int>{0, 1}));  // both lose
}

TEST(AlphaBetaDeathTest, FinishedBoardsAndOddDepthsAreOurBug) {
  EXPECT_DEATH(AlphaBetaPlayer(1, 0).Analyze(NimBoard(0)), "a finished game");
  EXPECT_DEATH(AlphaBetaPlayer(0, 0), "a look-ahead of 0 plies");
}

}  // namespace
}  // namespace lzero::alpha_beta_test
