// Monte Carlo tree search with random games on any Board: UCB1 in the tree, one new node a
// simulation, the most visited move [Kocsis and Szepesvari 2006; Coulom 2006]. A move that is found
// to win at once is played always from then on. It knows no network: the search of the agents is
// lzero/mcts. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_UCT_H_
#define LZERO_ENVS_BOARDS_PLAYERS_UCT_H_

#include <cstdint>
#include <vector>

#include "envs/boards/players/opponents.h"
#include "lzero/base/rng.h"

namespace lzero {

class UctPlayer : public Player {
 public:
  static constexpr int64_t kMaxSimulations = 10'000'000;

  // The statistics of one move of the position that was asked for last.
  struct ActionStats {
    int action = 0;
    int64_t num_visits = 0;
    double mean_value = 0.0;  // -1 .. 1, for the player who would play it
  };

  // `num_simulations` a move, 1 .. kMaxSimulations; `exploration` weighs the UCB1 bonus.
  UctPlayer(int64_t num_simulations, uint64_t seed, double exploration = 1.0);

  // The most visited action; of equals that with the higher value, then the one tried first.
  int ChooseAction(const Board& board) override;
  // The tried actions of the last position, in the order in which they were first tried.
  const std::vector<ActionStats>& stats() const { return stats_; }

 private:
  int64_t num_simulations_;
  double exploration_;
  RandomStream random_;
  std::vector<ActionStats> stats_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_UCT_H_
