// Monte Carlo tree search with random games on any Board: UCB1 in the tree, one new node a
// simulation, the most visited move [Kocsis and Szepesvari 2006; Coulom 2006]. A move that is found
// to win at once is played always from then on. It knows no network: the search of the agents is
// lzero/mcts. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_UCT_H_
#define LZERO_ENVS_BOARDS_PLAYERS_UCT_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "envs/boards/players/player.h"
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
  std::vector<ActionStats> stats() const;

 private:
  static constexpr int32_t kNone = -1;

  // The children of a node are a list, in the order in which they were added.
  struct Node {
    int32_t action = 0;
    int32_t mover = 0;  // who played the action
    int32_t first_child = kNone;
    int32_t last_child = kNone;
    int32_t next_sibling = kNone;
    int32_t winning_child = kNone;  // whose action ends the game as a win
    int32_t num_children = 0;
    int32_t num_legal = kNone;  // not counted yet
    int64_t num_visits = 0;
    double value_sum = 0.0;  // for `mover`
  };

  void Simulate(const Board& root);
  // Selects from the root to a new node, or to the end of a game, on board_.
  void Descend();
  int32_t BestChild(int32_t node) const;
  // A child for an action, drawn at random, that has none.
  int32_t AddChild(int32_t node);
  // Legal actions of board_ into legal_, without those of the children of `node`.
  void ListUntried(int32_t node);
  // The value for player 0 of a game that is played on at random from board_.
  double PlayOut();

  int64_t num_simulations_;
  double exploration_;
  RandomStream random_;
  std::vector<Node> nodes_;  // the root first
  std::vector<int32_t> path_;
  std::unique_ptr<Board> board_;
  std::vector<uint8_t> mask_;
  std::vector<int> legal_;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_UCT_H_
