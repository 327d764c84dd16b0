// What a chess position is worth without a search: pieces, their places, and what captures are left
// to play. Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_CHESS_EVALUATION_H_
#define LZERO_ENVS_BOARDS_CHESS_EVALUATION_H_

#include "envs/boards/chess/position.h"

namespace lzero::chess {

// Hundredths of a pawn for the player to move, whatever is attacked. [Shannon 1950]
int PlaceValue(const Position& position);
// The same once each player has taken what pays, or stopped. [quiescence search]
int QuietValue(const Position& position);
// What a move takes or becomes, a large piece by a small one first; 0 for a quiet move.
int CaptureValue(const Position& position, Move move);

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_EVALUATION_H_
