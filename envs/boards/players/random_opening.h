// Random moves at the beginning of a game, by which games between the same players differ. Knows no
// game. Pure, apart from what is passed in.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_RANDOM_OPENING_H_
#define LZERO_ENVS_BOARDS_PLAYERS_RANDOM_OPENING_H_

#include <cstdint>
#include <vector>

#include "envs/boards/board.h"
#include "lzero/base/rng.h"

namespace lzero {

// Plays `num_plies` random moves on `board`, each drawn among the legal ones that do not end the
// game, and returns them; fewer where there is none. `trial` is a board of the same game, for moves
// that are tried.
std::vector<int> PlayRandomOpening(int64_t num_plies, Board* board, Board* trial,
                                   RandomStream* random);

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_RANDOM_OPENING_H_
