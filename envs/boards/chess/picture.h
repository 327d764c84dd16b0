// A chess board as a picture, white at the bottom. Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_CHESS_PICTURE_H_
#define LZERO_ENVS_BOARDS_CHESS_PICTURE_H_

#include "envs/boards/chess/position.h"
#include "lzero/base/picture/image.h"

namespace lzero::chess {

// The squares of `last_move` are marked, where there is one.
Image Picture(const Position& position, Move last_move);

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_PICTURE_H_
