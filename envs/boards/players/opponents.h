// Players of any Board: yardsticks for agents that learn, and opponents in matches; by name, as a
// user types them: "random", "alpha_beta:4" (plies of look-ahead), "mcts:100" (simulations a move).
// The sides of a match that they make. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_
#define LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "envs/boards/players/match.h"
#include "lzero/base/thread_pool.h"

namespace lzero {

class Player {
 public:
  virtual ~Player() = default;

  // A legal action of `board`, which is not finished. Ties are broken by the player's own random
  // numbers, so that the choices of one player depend on all that it was asked before.
  virtual int ChooseAction(const Board& board) = 0;
};

// What names begin with: random, alpha_beta, mcts.
const std::vector<std::string>& OpponentKinds();

// InvalidArgument names what is known, the nearest of it, and the range of a number.
absl::StatusOr<std::unique_ptr<Player>> MakeOpponent(const std::string& name, uint64_t seed);

// The player of game number `game`.
using PlayerFactory = std::function<std::unique_ptr<Player>(int64_t game)>;

// A side with a player of its own at each game, so that games can be thought about on several
// threads and their moves do not depend on the order. `pool` outlives the side. `stop`, if given,
// is polled before every move, on any thread.
std::unique_ptr<MatchSide> MakePlayerSide(PlayerFactory make_player, ThreadPool* pool,
                                          std::function<bool()> stop = {});

// The same for players by name, whose errors it has. What they play depends on `seed` and the
// number of the game alone.
absl::StatusOr<std::unique_ptr<MatchSide>> MakeOpponentSide(const std::string& name, uint64_t seed,
                                                            ThreadPool* pool,
                                                            std::function<bool()> stop = {});

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_OPPONENTS_H_
