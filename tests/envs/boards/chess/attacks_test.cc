#include "envs/boards/chess/attacks.h"

#include <gtest/gtest.h>

#include "lzero/base/rng.h"

namespace lzero::chess::attacks_test {
namespace {

// Steps from square to square until something stands in the way.
Squares SlowAttacks(int square, Squares occupied, bool straight) {
  Squares attacks = 0;
  for (const auto& [up, right] :
       {std::pair{0, 1}, {1, 0}, {0, -1}, {-1, 0}, {1, 1}, {1, -1}, {-1, -1}, {-1, 1}}) {
    if ((up == 0 || right == 0) != straight) continue;
    for (int rank = square / 8 + up, file = square % 8 + right;
         rank >= 0 && rank < 8 && file >= 0 && file < 8; rank += up, file += right) {
      attacks |= Squares{1} << (rank * 8 + file);
      if ((occupied >> (rank * 8 + file) & 1) != 0) break;
    }
  }
  return attacks;
}

TEST(ChessAttacksTest, LinesEndWhereSomethingStands) {
  RandomStream random(1, "attacks");
  for (int i = 0; i < 200; ++i) {
    const Squares occupied = random.NextUint64() & (i % 2 == 0 ? random.NextUint64() : ~Squares{0});
    for (int square = 0; square < 64; ++square) {
      const Squares rook = SlowAttacks(square, occupied, true);
      const Squares bishop = SlowAttacks(square, occupied, false);
      ASSERT_EQ(RookAttacks(square, occupied), rook) << square;
      ASSERT_EQ(BishopAttacks(square, occupied), bishop) << square;
      ASSERT_EQ(PieceAttacks(kQueen, square, occupied), rook | bishop) << square;
    }
  }
}

// The sums over an empty board that every book has; pawns: 7 * 2 to each of seven ranks.
TEST(ChessAttacksTest, SumsOverTheBoard) {
  std::array<int, kNumKinds> sums = {};
  for (int square = 0; square < 64; ++square) {
    for (const Kind kind : {kKnight, kBishop, kRook, kQueen, kKing}) {
      sums[kind] += std::popcount(PieceAttacks(kind, square, 0));
    }
    sums[kPawn] += std::popcount(kPawnAttacks[kBlack][square]);
    ASSERT_EQ(std::popcount(kPawnAttacks[kWhite][square]),
              std::popcount(kPawnAttacks[kBlack][Flipped(square)]));
  }
  EXPECT_EQ(sums, (std::array<int, kNumKinds>{98, 336, 560, 896, 1456, 420}));
}

TEST(ChessAttacksTest, SquaresByHand) {
  EXPECT_EQ(kKnightAttacks[0], Bit(10) | Bit(17));            // a1: c2, b3
  EXPECT_EQ(kKingAttacks[7], Bit(6) | Bit(14) | Bit(15));     // h1: g1, g2, h2
  EXPECT_EQ(kPawnAttacks[kWhite][8], Bit(17));                // a2: b3
  EXPECT_EQ(kPawnAttacks[kBlack][55], Bit(46));               // h7: g6
  EXPECT_EQ(Between(0, 63), BishopAttacks(0, 0) & ~Bit(63));  // a1, h8
  EXPECT_EQ(Between(36, 12), Bit(20) | Bit(28));              // e5, e2
  EXPECT_EQ(Between(0, 1), 0u);
  EXPECT_EQ(Between(0, 10), 0u);  // a knight's move
  EXPECT_EQ(LineThrough(0, 10), 0u);
  EXPECT_EQ(LineThrough(4, 20), RookAttacks(4, 0) & ~Rank(0));  // the e file without e1
  Squares squares = Bit(3) | Bit(40);
  EXPECT_EQ(TakeSquare(squares), 3);
  EXPECT_EQ(squares, Bit(40));
}

}  // namespace
}  // namespace lzero::chess::attacks_test
