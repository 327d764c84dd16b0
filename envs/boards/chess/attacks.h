// Squares of a chess board, sets of them, and what pieces attack. A square is rank * 8 + file, a1 =
// 0 .. h8 = 63; a set has bit `square`. Pure, any thread.
#ifndef LZERO_ENVS_BOARDS_CHESS_ATTACKS_H_
#define LZERO_ENVS_BOARDS_CHESS_ATTACKS_H_

#include <array>
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <utility>

namespace lzero::chess {

using Squares = uint64_t;

enum Side : uint8_t { kWhite, kBlack };
enum Kind : uint8_t { kPawn, kKnight, kBishop, kRook, kQueen, kKing, kNoKind };

constexpr int kNumKinds = 6;
constexpr int kNumSquares = 64;
constexpr uint8_t kNoSquare = 64;

constexpr Squares Bit(int square) { return Squares{1} << square; }
constexpr int RankOf(int square) { return square >> 3; }
constexpr int FileOf(int square) { return square & 7; }
constexpr Squares Rank(int rank) { return Squares{0xff} << (8 * rank); }
// The same square as the other player sees it.
constexpr int Flipped(int square) { return square ^ 56; }
// The lowest square of `squares`, which is not empty, is taken out.
constexpr uint8_t TakeSquare(Squares& squares) {
  const int square = std::countr_zero(squares);
  squares &= squares - 1;
  return static_cast<uint8_t>(square);
}

// The squares before and behind one on a straight line.
struct Line {
  Squares lower = 0, upper = 0;

  constexpr Squares all() const { return lower | upper; }
};

namespace internal {

// Where the steps (ranks, files) lead from `square`, `repeats` times each, on the board.
constexpr Squares Reached(int square, std::initializer_list<std::pair<int, int>> steps,
                          int repeats = 1) {
  Squares squares = 0;
  for (const auto& [up, right] : steps) {
    int rank = RankOf(square) + up, file = FileOf(square) + right;
    for (int i = 0; i < repeats && rank >= 0 && rank < 8 && file >= 0 && file < 8; ++i) {
      squares |= Bit(rank * 8 + file);
      rank += up, file += right;
    }
  }
  return squares;
}

template <typename Value>
constexpr auto ForEachSquare(const Value& value) {
  std::array<decltype(value(0)), kNumSquares> values = {};
  for (int square = 0; square < kNumSquares; ++square) values[square] = value(square);
  return values;
}

}  // namespace internal

inline constexpr auto kKnightAttacks = internal::ForEachSquare([](int square) {
  return internal::Reached(
      square, {{2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}, {2, -1}});
});
inline constexpr auto kKingAttacks = internal::ForEachSquare([](int square) {
  return internal::Reached(square,
                           {{1, -1}, {1, 0}, {1, 1}, {0, -1}, {0, 1}, {-1, -1}, {-1, 0}, {-1, 1}});
});
// [color][square]
inline constexpr std::array kPawnAttacks = {internal::ForEachSquare([](int s) {
                                              return internal::Reached(s, {{1, -1}, {1, 1}});
                                            }),
                                            internal::ForEachSquare([](int s) {
                                              return internal::Reached(s, {{-1, -1}, {-1, 1}});
                                            })};
// [square]: the rank, the file and both diagonals through it.
inline constexpr auto kLines = internal::ForEachSquare([](int square) {
  const auto line = [square](int up, int right) {
    return Line{internal::Reached(square, {{-up, -right}}, 7),
                internal::Reached(square, {{up, right}}, 7)};
  };
  return std::array<Line, 4>{line(0, 1), line(1, 0), line(1, 1), line(1, -1)};
});

// The squares of a line that are seen from its middle: up to the nearest occupied ones, which
// count. Subtracting the bit of the nearest one below borrows from the nearest one above.
// [Hoffmann's obstruction difference]
constexpr Squares LineAttacks(const Line& line, Squares occupied) {
  const Squares lower = line.lower & occupied, upper = line.upper & occupied;
  const Squares nearest_lower = Bit(63) >> std::countl_zero(lower | 1);
  return (upper ^ (upper - nearest_lower)) & line.all();
}
constexpr Squares RookAttacks(int square, Squares occupied) {
  return LineAttacks(kLines[square][0], occupied) | LineAttacks(kLines[square][1], occupied);
}
constexpr Squares BishopAttacks(int square, Squares occupied) {
  return LineAttacks(kLines[square][2], occupied) | LineAttacks(kLines[square][3], occupied);
}
// What a piece that is no pawn attacks.
constexpr Squares PieceAttacks(Kind kind, int square, Squares occupied) {
  switch (kind) {
    case kKnight:
      return kKnightAttacks[square];
    case kBishop:
      return BishopAttacks(square, occupied);
    case kRook:
      return RookAttacks(square, occupied);
    case kQueen:
      return RookAttacks(square, occupied) | BishopAttacks(square, occupied);
    default:
      return kKingAttacks[square];
  }
}
// All squares of the line through two squares but the first; none if no line joins them.
constexpr Squares LineThrough(int square, int other) {
  for (const Line& line : kLines[square]) {
    if ((line.all() & Bit(other)) != 0) return line.all();
  }
  return 0;
}
// The squares between two; none if no line joins them.
constexpr Squares Between(int square, int other) {
  for (int i = 0; i < 4; ++i) {
    const Line& line = kLines[square][i];
    if ((line.all() & Bit(other)) == 0) continue;
    return LineAttacks(line, Bit(other)) & LineAttacks(kLines[other][i], Bit(square));
  }
  return 0;
}

}  // namespace lzero::chess

#endif  // LZERO_ENVS_BOARDS_CHESS_ATTACKS_H_
