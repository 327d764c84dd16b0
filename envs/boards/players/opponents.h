// Players for any Board by name, as a user types them: "random", "alpha_beta:4" (plies of
// look-ahead), "mcts:100" (simulations a move). One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_
#define LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/boards/players/player.h"
#include "lzero/base/rng.h"

namespace lzero {

// Every legal action is equally likely.
class RandomPlayer : public Player {
 public:
  explicit RandomPlayer(uint64_t seed) : random_(seed, "random player") {}

  int ChooseAction(const Board& board) override;

 private:
  RandomStream random_;
  std::vector<uint8_t> mask_;
};

// What names begin with: random, alpha_beta, mcts.
const std::vector<std::string>& OpponentKinds();

// InvalidArgument names what is known, the nearest of it, and the range of a number.
absl::StatusOr<std::unique_ptr<Player>> MakeOpponent(const std::string& name, uint64_t seed);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_
