#include "envs/boards/chess/position.h"

#include <algorithm>
#include <string>

#include "absl/strings/match.h"
#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess::position_test {
namespace {

// The legal moves whose text begins with `start`, in alphabetical order.
std::string MovesFrom(absl::string_view fen, absl::string_view start) {
  MoveList list;
  PositionOf(fen).ListMoves(~Squares{0}, &list);
  std::vector<std::string> texts;
  for (const Move move : list) {
    std::string text = MoveText(move);
    if (absl::StartsWith(text, start)) texts.push_back(std::move(text));
  }
  std::sort(texts.begin(), texts.end());
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : " ") + text;
  return joined;
}

std::string After(absl::string_view fen, absl::string_view move) {
  Position position = PositionOf(fen);
  position.Play(MoveOf(move));
  return FenOf(position);
}

TEST(ChessPositionTest, CastlingNeedsAFreeAndSafeWay) {
  const auto king = [](const std::string& ranks) { return MovesFrom(ranks + " w KQ - 0 1", "e1"); };
  EXPECT_EQ(king("4k3/8/8/8/8/8/3PPP2/R3K2R"), "e1c1 e1d1 e1f1 e1g1");
  // Through f1, which a rook attacks; into g1; out of a check.
  EXPECT_EQ(king("4kr2/8/8/8/8/8/3PP3/R3K2R"), "e1c1 e1d1");
  EXPECT_EQ(king("4k1r1/8/8/8/8/8/3PPP2/R3K2R"), "e1c1 e1d1 e1f1");
  EXPECT_EQ(king("3kr3/8/8/8/8/8/3P1P2/R3K2R"), "e1d1 e1f1");
  // What the rook passes may be attacked, and so may the rook: b1 and a1, h1.
  EXPECT_EQ(king("1r2k3/8/8/8/8/8/3PPP2/R3K2R"), "e1c1 e1d1 e1f1 e1g1");
  EXPECT_EQ(king("r3k2r/8/8/8/8/8/3PPP2/R3K2R"), "e1c1 e1d1 e1f1 e1g1");
  // Something stands between.
  EXPECT_EQ(king("4k3/8/8/8/8/8/3PPP2/RN2K1NR"), "e1d1 e1f1");
  // Without the right.
  EXPECT_EQ(MovesFrom("4k3/8/8/8/8/8/3PPP2/R3K2R w Q - 0 1", "e1"), "e1c1 e1d1 e1f1");
  EXPECT_EQ(MovesFrom("r3k2r/3ppp2/8/8/8/8/8/4K3 b kq - 0 1", "e8"), "e8c8 e8d8 e8f8 e8g8");
}

TEST(ChessPositionTest, CastlingMovesTheRookAndRightsAreLost) {
  const std::string start = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 5 9";
  EXPECT_EQ(After(start, "e1g1"), "r3k2r/8/8/8/8/8/8/R4RK1 b kq - 6 9");
  EXPECT_EQ(After(start, "e1c1"), "r3k2r/8/8/8/8/8/8/2KR3R b kq - 6 9");
  EXPECT_EQ(After(start, "e1e2"), "r3k2r/8/8/8/8/8/4K3/R6R b kq - 6 9");
  EXPECT_EQ(After(start, "a1a7"), "r3k2r/R7/8/8/8/8/8/4K2R b Kkq - 6 9");
  EXPECT_EQ(After(start, "h1h8"), "r3k2R/8/8/8/8/8/8/R3K3 b Qq - 0 9");  // both lose one
  const std::string black = "r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 5 9";
  EXPECT_EQ(After(black, "e8g8"), "r4rk1/8/8/8/8/8/8/R3K2R w KQ - 6 10");
  EXPECT_EQ(After(black, "e8c8"), "2kr3r/8/8/8/8/8/8/R3K2R w KQ - 6 10");
}

TEST(ChessPositionTest, EnPassant) {
  const std::string start = "4k3/8/8/8/2p1p3/8/3P3P/4K3 w - - 3 1";
  EXPECT_EQ(After(start, "d2d4"), "4k3/8/8/8/2pPp3/8/7P/4K3 b - d3 0 1");
  EXPECT_EQ(After(start, "h2h4"), "4k3/8/8/8/2p1p2P/8/3P4/4K3 b - - 0 1");  // nobody can take it
  EXPECT_EQ(MovesFrom("4k3/8/8/8/2pPp3/8/7P/4K3 b - d3 0 1", "c4"), "c4c3 c4d3");
  EXPECT_EQ(MovesFrom("4k3/8/8/8/2pPp3/8/7P/4K3 b - d3 0 1", "e4"), "e4d3 e4e3");
  EXPECT_EQ(After("4k3/8/8/8/2pPp3/8/7P/4K3 b - d3 0 1", "c4d3"),
            "4k3/8/8/8/4p3/3p4/7P/4K3 w - - 0 2");
  EXPECT_EQ(MovesFrom("4k3/8/8/8/2pPp3/8/7P/4K3 b - - 0 1", "c4"), "c4c3");  // too late
}

TEST(ChessPositionTest, EnPassantMayNotOpenALineToTheKing) {
  // Both pawns leave the rank of king and queen.
  EXPECT_EQ(MovesFrom("8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1", "e4"), "e4e3");
  // A knight between keeps it closed.
  EXPECT_EQ(MovesFrom("8/8/8/8/kn1Pp2Q/8/8/3K4 b - d3 0 1", "e4"), "e4d3 e4e3");
  // The taking pawn is pinned on a diagonal: along it, or away from it.
  EXPECT_EQ(MovesFrom("6k1/8/8/3pP3/8/8/1K5b/8 w - d6 0 1", "e5"), "e5d6 e5e6");
  EXPECT_EQ(MovesFrom("7b/8/8/3pP3/8/2K5/8/6k1 w - d6 0 1", "e5"), "");
  EXPECT_EQ(MovesFrom("7b/8/8/4Pp2/8/2K5/8/6k1 w - f6 0 1", "e5"), "e5f6");
  // The pawn that is taken stood in the way of a bishop.
  EXPECT_EQ(MovesFrom("4k3/8/8/b2pP3/8/8/3K4/8 w - d6 0 1", "e5"), "");
}

TEST(ChessPositionTest, EnPassantAnswersACheckByThatPawn) {
  EXPECT_EQ(MovesFrom("8/8/8/1k6/2Pp4/8/8/4K3 b - c3 0 1", "d4"), "d4c3");
}

TEST(ChessPositionTest, ChecksMustBeAnswered) {
  // A rook on e8 checks: the king steps aside, the bishop and the rook go between or take.
  EXPECT_EQ(MovesFrom("4r2k/8/8/8/8/1B6/R7/4K3 w - - 0 1", ""), "a2e2 b3e6 e1d1 e1d2 e1f1 e1f2");
  EXPECT_EQ(MovesFrom("k3r3/8/8/1B6/8/8/8/4K3 w - - 0 1", "b5"), "b5e2 b5e8");
  // Two at once: only the king moves, not along the line of the rook.
  EXPECT_EQ(MovesFrom("4r2k/8/8/8/8/3n4/R7/4K3 w - - 0 1", ""), "e1d1 e1d2 e1f1");
  // A protected piece cannot be taken by the king.
  EXPECT_EQ(MovesFrom("k7/8/8/8/8/8/3qr3/4K3 w - - 0 1", ""), "e1f1");
}

TEST(ChessPositionTest, PinnedPiecesStayOnTheLine) {
  EXPECT_EQ(MovesFrom("k3r3/8/8/8/4R3/8/8/4K3 w - - 0 1", "e4"), "e4e2 e4e3 e4e5 e4e6 e4e7 e4e8");
  EXPECT_EQ(MovesFrom("k3r3/8/8/8/4N3/8/8/4K3 w - - 0 1", "e4"), "");
  EXPECT_EQ(MovesFrom("k3r3/8/8/8/4P3/8/8/4K3 w - - 0 1", "e4"), "e4e5");
  EXPECT_EQ(MovesFrom("k7/8/8/8/8/2b5/3P4/4K3 w - - 0 1", "d2"), "d2c3");
  EXPECT_EQ(MovesFrom("k3r3/8/8/8/4N3/8/4P3/4K3 w - - 0 1", "e4").size(), 8 * 5 - 1u);
}

TEST(ChessPositionTest, PawnsPromote) {
  EXPECT_EQ(MovesFrom("1n5k/P7/8/8/8/8/8/K7 w - - 0 1", "a7"),
            "a7a8b a7a8n a7a8q a7a8r a7b8b a7b8n a7b8q a7b8r");
  EXPECT_EQ(After("1n5k/P7/8/8/8/8/8/K7 w - - 7 1", "a7b8n"), "1N5k/8/8/8/8/8/8/K7 b - - 0 1");
  EXPECT_EQ(MovesFrom("k7/8/8/8/8/8/7p/K7 b - - 0 1", "h2"), "h2h1b h2h1n h2h1q h2h1r");
  // Two steps from the start alone, over nobody.
  EXPECT_EQ(MovesFrom("k7/8/8/8/n7/8/P1P5/K7 w - - 0 1", "a2"), "a2a3");
  EXPECT_EQ(MovesFrom("k7/8/8/8/8/n7/P1P5/K7 w - - 0 1", "a2"), "");
  EXPECT_EQ(MovesFrom("k7/8/8/8/8/n7/P1P5/K7 w - - 0 1", "c2"), "c2c3 c2c4");
}

TEST(ChessPositionTest, TargetsChooseMoves) {
  const Position position = PositionOf("k7/8/8/3p4/4P3/8/8/K2R4 w - - 0 1");
  MoveList captures;
  position.ListMoves(position.colors[kBlack], &captures);
  ASSERT_EQ(captures.size(), 2);
  for (const Move move : captures) EXPECT_EQ(SquareName(move.to), "d5");
}

// Nobody can mate, however badly the other plays.
TEST(ChessPositionTest, LacksMaterial) {
  const auto lacks = [](const std::string& ranks) {
    return PositionOf(ranks + " w - - 0 1").LacksMaterial();
  };
  EXPECT_TRUE(lacks("k7/8/8/8/8/8/8/K7"));
  EXPECT_TRUE(lacks("k7/8/8/8/8/8/8/KN6"));
  EXPECT_TRUE(lacks("kb6/8/8/8/8/8/8/K7"));
  EXPECT_TRUE(lacks("kb6/8/8/8/8/8/8/K1B5"));    // b8 and c1 are dark
  EXPECT_TRUE(lacks("kb1b4/8/8/8/8/8/8/K1B5"));  // d8 too
  EXPECT_FALSE(lacks("kb6/8/8/8/8/8/8/KB6"));    // b1 is light
  EXPECT_FALSE(lacks("k7/8/8/8/8/8/8/KNN5"));
  EXPECT_FALSE(lacks("kn6/8/8/8/8/8/8/KN6"));
  EXPECT_FALSE(lacks("kn6/8/8/8/8/8/8/K1B5"));
  EXPECT_FALSE(lacks("k7/8/8/8/8/8/P7/K7"));
  EXPECT_FALSE(lacks("k7/8/8/8/8/8/8/KR6"));
  EXPECT_FALSE(lacks("k7/8/8/8/8/8/8/KQ6"));
}

TEST(ChessPositionTest, HashesTellPositionsApart) {
  const auto hash = [](absl::string_view fen) { return PositionOf(fen).Hash(); };
  const std::string ranks = "r3k2r/8/8/2pP4/8/8/8/R3K2R ";
  const uint64_t all = hash(ranks + "w KQkq c6 0 2");
  EXPECT_EQ(hash(ranks + "w KQkq c6 50 90"), all);
  EXPECT_NE(hash(ranks + "w KQkq - 0 2"), all);
  EXPECT_NE(hash(ranks + "w KQk c6 0 2"), all);
  EXPECT_NE(hash(ranks + "b KQkq - 0 2"), hash(ranks + "w KQkq - 0 2"));
  EXPECT_NE(hash("r3k2r/8/8/2pP4/8/8/8/R3K1R1 w Qkq c6 0 2"), hash(ranks + "w Qkq c6 0 2"));
  // Colors exchanged, pieces in place.
  EXPECT_NE(hash("k7/8/8/8/8/8/8/KR6 w - - 0 1"), hash("k7/8/8/8/8/8/8/Kr6 w - - 0 1"));
  // The same by another order of moves.
  Position one = PositionOf(kStartFen), other = one;
  for (const char* move : {"g1f3", "g8f6", "b1c3"}) one.Play(MoveOf(move));
  for (const char* move : {"b1c3", "g8f6", "g1f3"}) other.Play(MoveOf(move));
  EXPECT_EQ(one.Hash(), other.Hash());
}

}  // namespace
}  // namespace lzero::chess::position_test
