// The numbers of chess moves, from the view of who moves: black's board is turned top to bottom. A
// move of a queen or knight on an empty board has one number, in the order of its squares from and
// to; so every other piece has its moves among them, and a promotion to a queen is the plain move.
// Then follow the 22 promotion moves of a pawn three times each, to a knight, bishop and rook.
// [AlphaZero's 8 x 8 x 73 without those that leave the board] Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_CHESS_ACTIONS_H_
#define LZERO_ENVS_BOARDS_CHESS_ACTIONS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "envs/boards/chess/position.h"

namespace lzero::chess {

constexpr int kNumPlainActions = 1792;
constexpr int kNumActions = kNumPlainActions + 22 * 3;

// 0 .. kNumActions - 1, of a move of `color`.
int ActionOf(Move move, int color);

// Where actions stand (ActionSpec): on the square that they leave, 73 kinds as in AlphaZero: a
// queen's moves by direction, up and then clockwise, and length; a knight's eight; promotions to
// less than a queen by piece, then by direction.
std::vector<int32_t> ActionPlaces();

// As the UCI protocol writes it: "e2e4", "e1g1" to castle, "e7e8n".
std::string MoveText(Move move);

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_ACTIONS_H_
