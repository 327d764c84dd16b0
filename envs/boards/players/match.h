// Matches between two sides of a board game: colors alternate, and both games of a pair begin with
// the same opening, so that it favours nobody. Games are played together, a move in each at a time,
// so that sides can think in batches. Blocks; one thread.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_MATCH_H_
#define LZERO_ENVS_BOARDS_PLAYERS_MATCH_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "envs/boards/board_env.h"
#include "envs/boards/players/elo.h"

namespace lzero {

// A game in which a side is to move.
struct MatchTurn {
  int table = 0;
  const Board* board = nullptr;
};

// Chooses the moves of one side in many games at once, one game at each table, and sees every move
// that is made. Players of a Board: opponents.h.
class MatchSide {
 public:
  virtual ~MatchSide() = default;

  // Game number `game` begins at `table`, in position `start`; the one before is over.
  virtual void BeginGame(int table, int64_t game, const Board& start) = 0;
  // At `table`, `action` of either side or of a random opening led to `board`.
  virtual void OnMove(int table, int action, const Board& board) = 0;
  // A legal action for each turn, in order. The boards are unfinished and this side is to move on
  // them. Cancelled when the side was told to stop; other errors are those of its model. Blocks.
  virtual absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) = 0;
};

// How one side fared in some games.
struct MatchScore {
  int64_t wins = 0;
  int64_t draws = 0;
  int64_t losses = 0;

  int64_t num_games() const { return wins + draws + losses; }
  // Points a game: 1 for a win, a half for a draw.
  double points_fraction() const {
    const auto points = static_cast<double>(wins) + 0.5 * static_cast<double>(draws);
    return num_games() == 0 ? 0.0 : points / static_cast<double>(num_games());
  }
};

struct MatchPlan {
  int64_t num_games = 100;    // the last of an odd number has no partner
  uint64_t seed = 0;          // of the openings
  int64_t opening_plies = 0;  // random moves after env.Reset that do not end the game
  int num_tables = 64;        // games at a time
};

// What the games that have ended add up to.
struct MatchResult {
  std::array<MatchScore, 2> by_color;  // of the first side, as player 0 and as player 1
  PairCounts pairs = {};               // both games ended
  int64_t num_plies = 0;               // of games that have ended, less those of openings
  int64_t num_openings = 0;            // positions that games began in, after the opening
  int64_t num_different_games = 0;     // of those that have ended: by start, moves and colors
  bool is_stopped = false;             // before all games had ended

  MatchScore total() const {
    return {by_color[0].wins + by_color[1].wins, by_color[0].draws + by_color[1].draws,
            by_color[0].losses + by_color[1].losses};
  }
};

// The environment of a match. Errors as registry.Make, and InvalidArgument for one that is no board
// game, or whose games may end within the opening.
absl::StatusOr<std::unique_ptr<BoardEnv>> MakeMatchEnv(const EnvRegistry& registry,
                                                       const std::string& id,
                                                       const EnvOptions& options,
                                                       int64_t opening_plies = 0);

// Plays the games of `plan` (one at least, on one table at least) from positions as env.Reset gives
// them and the random moves after it. Every pair begins in a position of its own, until 100
// draws in a row find none. In the first game of a pair `first` is player 0. `watch`, if given,
// sees the result so far before every move; the match stops when it returns true, or when a side is
// Cancelled. The sides' other errors are passed on; an illegal choice is our bug. `env` is left
// somewhere.
absl::StatusOr<MatchResult> PlayMatch(BoardEnv& env, MatchSide& first, MatchSide& second,
                                      const MatchPlan& plan,
                                      const std::function<bool(const MatchResult&)>& watch = {});

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_MATCH_H_
