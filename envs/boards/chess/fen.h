// Positions as Forsyth-Edwards notation: "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0
// 1". Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_CHESS_FEN_H_
#define LZERO_ENVS_BOARDS_CHESS_FEN_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "envs/boards/chess/position.h"

namespace lzero::chess {

inline constexpr char kStartFen[] = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

// Fields: ranks from the eighth, player to move, castling rights, en passant square, half moves
// since a pawn moved or a piece was taken (0 .. 100), number of the move (1 .. 9999); the last two
// may be missing. InvalidArgument names the field that is wrong, or why no game has the position.
absl::StatusOr<Position> ParseFen(absl::string_view fen);
std::string FenOf(const Position& position);

// 'P' .. 'K' for white, 'p' .. 'k' for black, '.' where there is nothing.
char LetterAt(const Position& position, int square);
// "e4".
std::string SquareName(int square);

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_FEN_H_
