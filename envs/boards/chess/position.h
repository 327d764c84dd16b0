// A chess position and its legal moves, by the laws of FIDE; not a game: draws that depend on the
// past are those of chess_board.cc. Plain value, no thread rule.
#ifndef LZERO_ENVS_BOARDS_CHESS_POSITION_H_
#define LZERO_ENVS_BOARDS_CHESS_POSITION_H_

#include <array>
#include <cstdint>
#include <string>

#include "envs/boards/chess/attacks.h"

namespace lzero::chess {

// A king that moves two files castles.
struct Move {
  uint8_t from = kNoSquare;
  uint8_t to = kNoSquare;
  Kind promotion = kNoKind;

  friend bool operator==(const Move&, const Move&) = default;
};

// The moves of one position.
class MoveList {
 public:
  // 9 queens, 2 rooks, 2 bishops, 2 knights and a king have at most 313 moves on an empty board;
  // the most that are known of any position are 218.
  static constexpr int kMaxMoves = 320;

  void Add(Move move) { moves_[size_++] = move; }
  int size() const { return size_; }
  const Move* begin() const { return moves_.data(); }
  const Move* end() const { return moves_.data() + size_; }
  Move* begin() { return moves_.data(); }
  Move* end() { return moves_.data() + size_; }

 private:
  std::array<Move, kMaxMoves> moves_;
  int size_ = 0;
};

struct Position {
  enum Right : uint8_t { kWhiteShort = 1, kWhiteLong = 2, kBlackShort = 4, kBlackLong = 8 };

  std::array<Squares, kNumKinds> kinds = {};
  std::array<Squares, 2> colors = {};
  uint8_t to_play = kWhite;
  uint8_t castling = 0;            // Right, those that are left
  uint8_t en_passant = kNoSquare;  // behind a pawn that made two steps and may be taken
  uint8_t clock = 0;               // half moves since a pawn moved or a piece was taken
  uint16_t move_number = 1;        // 1 until black has moved

  friend bool operator==(const Position&, const Position&) = default;

  Squares occupied() const { return colors[kWhite] | colors[kBlack]; }
  Squares Pieces(int color, Kind kind) const { return colors[color] & kinds[kind]; }
  int KingOf(int color) const { return std::countr_zero(Pieces(color, kKing)); }
  // kNoKind for an empty square.
  Kind KindAt(int square) const;
  // Pieces of `color` that attack `square` when `occupied` alone stand in the way.
  Squares AttackersOf(int square, int color, Squares occupied) const;
  bool InCheck() const { return AttackersOf(KingOf(to_play), 1 - to_play, occupied()) != 0; }
  // Adds the legal moves that end on `targets`.
  void ListMoves(Squares targets, MoveList* list) const;
  // Plays a legal move. The en passant square is set only where a pawn stands to take there.
  void Play(Move move);
  // Neither player can ever give mate: one bishop or knight, or bishops on one color, and kings.
  bool LacksMaterial() const;
  // The same for positions with the same pieces, player to move, castling rights and en passant
  // square, whatever the counters say; others share one with a probability of 2^-64.
  uint64_t Hash() const;
  // Why this cannot be a position of a game; empty: nothing speaks against it.
  std::string Problem() const;

 private:
  void ListKingMoves(Squares targets, MoveList* list) const;
  void ListPawnMoves(int from, Squares allowed, MoveList* list) const;
  void ListEnPassant(MoveList* list) const;
  Squares PinnedPieces() const;
};

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_POSITION_H_
