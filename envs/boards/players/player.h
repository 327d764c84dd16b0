// Who chooses moves on any Board: a yardstick for agents that learn, and an opponent in matches.
// Made by name: opponents.h. One thread at a time.
#ifndef LZERO_ENVS_BOARDS_PLAYERS_PLAYER_H_
#define LZERO_ENVS_BOARDS_PLAYERS_PLAYER_H_

#include "envs/boards/board.h"

namespace lzero {

class Player {
 public:
  virtual ~Player() = default;

  // A legal action of `board`, which is not finished. Ties are broken by the player's own random
  // numbers, so that the choices of one player depend on all that it was asked before.
  virtual int ChooseAction(const Board& board) = 0;
};

}  // namespace lzero

#endif  // LZERO_ENVS_BOARDS_PLAYERS_PLAYER_H_
