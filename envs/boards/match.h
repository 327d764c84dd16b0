// Matches between two players of a board game: colours alternate, and both games of a pair begin in
// the same position, so that a random opening favours nobody. Blocks; one thread.
#ifndef LZERO_ENVS_BOARDS_MATCH_H_
#define LZERO_ENVS_BOARDS_MATCH_H_

#include <array>
#include <cstdint>

#include "envs/boards/board_env.h"
#include "envs/boards/player.h"

namespace lzero {

// How one player fared in some games.
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

struct MatchResult {
  std::array<MatchScore, 2>
      by_color;           // of the first of the two players, as player 0 and as player 1
  int64_t num_plies = 0;  // played in all games, those of random openings not counted

  MatchScore total() const;
};

// Plays `num_games` (at least 1) from positions as env.Reset gives them, a new one for each pair of
// games, by `seed`. In the first game of a pair `first` is player 0. An illegal choice of a player
// is our bug. `env` is left somewhere.
MatchResult PlayMatch(BoardEnv& env, Player& first, Player& second, int64_t num_games,
                      uint64_t seed);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_MATCH_H_
