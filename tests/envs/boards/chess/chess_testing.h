// Chess positions and moves from text, for tests.
#ifndef LZERO_TESTS_ENVS_BOARDS_CHESS_CHESS_TESTING_H_
#define LZERO_TESTS_ENVS_BOARDS_CHESS_CHESS_TESTING_H_

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "envs/boards/chess/actions.h"
#include "envs/boards/chess/fen.h"
#include "tests/envs/boards/start_board.h"

namespace lzero {

// Positions that programs for chess count moves in [Chess Programming Wiki, Perft Results]: the
// second is Kiwipete, full of castling, pins and en passant.
inline constexpr const char* kChessPositions[] = {
    chess::kStartFen,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"};

inline chess::Position PositionOf(absl::string_view fen) {
  const auto position = chess::ParseFen(fen);
  EXPECT_TRUE(position.ok()) << position.status();
  return position.ok() ? *position : *chess::ParseFen(chess::kStartFen);
}

// "e7e8n".
inline chess::Move MoveOf(absl::string_view text) {
  const auto square = [](char file, char rank) {
    return static_cast<uint8_t>((rank - '1') * 8 + file - 'a');
  };
  chess::Move move = {square(text[0], text[1]), square(text[2], text[3])};
  if (text.size() > 4)
    move.promotion = static_cast<chess::Kind>(absl::string_view("pnbrq").find(text[4]));
  return move;
}

inline std::unique_ptr<Board> ChessBoard(absl::string_view fen = chess::kStartFen,
                                         const std::vector<std::string>& moves = {}) {
  std::unique_ptr<Board> board = StartBoard(ChessEntry(), {{"fen", std::string(fen)}});
  for (const std::string& move : moves) {
    board->Play(chess::ActionOf(MoveOf(move), board->to_play()));
  }
  return board;
}

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_BOARDS_CHESS_CHESS_TESTING_H_
