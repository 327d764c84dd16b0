// Looks ahead a fixed number of plies on any Board: negamax with alpha-beta windows; moves in the
// order of Board::Urgency, then of the history heuristic [Knuth and Moore 1975; Schaeffer 1989];
// positions at the end of the look-ahead are worth Board::Estimate(). No transposition table. One
// thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_ALPHA_BETA_H_
#define LZERO_ENVS_BOARDS_PLAYERS_ALPHA_BETA_H_

#include <cstdint>
#include <vector>

#include "envs/boards/players/opponents.h"
#include "lzero/base/rng.h"

namespace lzero {

class AlphaBetaPlayer : public Player {
 public:
  // A win in n plies is worth kWinValue - n to the winner, less than that to nobody else: quick
  // wins are better, and every win is better than any estimate.
  static constexpr double kWinValue = 1000.0;
  static constexpr int kMaxDepth = 64;

  struct Analysis {
    double value = 0.0;             // for the player to move
    std::vector<int> best_actions;  // all with that value, as they were tried
    int64_t num_positions = 0;      // looked at, the given one not counted
  };

  // `depth` plies, 1 .. kMaxDepth; the seed decides between best actions.
  AlphaBetaPlayer(int depth, uint64_t seed);

  // Looks ahead from a board that is not finished.
  Analysis Analyze(const Board& board) const;
  int ChooseAction(const Board& board) override;

 private:
  int depth_;
  RandomStream random_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_ALPHA_BETA_H_
