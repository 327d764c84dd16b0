#include "envs/boards/chess/evaluation.h"

#include <algorithm>

#include "lzero/base/rng.h"
#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess::evaluation_test {
namespace {

// The position with colors exchanged, top to bottom.
Position Turned(const Position& position) {
  Position turned = position;
  for (Squares& squares : turned.kinds) squares = __builtin_bswap64(squares);
  turned.colors = {__builtin_bswap64(position.colors[1]), __builtin_bswap64(position.colors[0])};
  turned.to_play = 1 - position.to_play;
  return turned;
}

// Without windows and order.
int PlainQuietValue(const Position& position, int num_left) {
  int best = PlaceValue(position);
  if (num_left == 0) return best;
  MoveList list;
  position.ListMoves(position.colors[1 - position.to_play], &list);
  for (const Move move : list) {
    Position next = position;
    next.Play(move);
    best = std::max(best, -PlainQuietValue(next, num_left - 1));
  }
  return best;
}

Position RandomChessPosition(int num_plies, RandomStream& random) {
  Position position = PositionOf(kStartFen);
  for (int ply = 0; ply < num_plies; ++ply) {
    MoveList list;
    position.ListMoves(~Squares{0}, &list);
    if (list.size() == 0) break;
    position.Play(list.begin()[random.UniformInt(list.size())]);
  }
  return position;
}

TEST(ChessEvaluationTest, IsFairToBothColors) {
  EXPECT_EQ(PlaceValue(PositionOf(kStartFen)), 0);
  RandomStream random(1, "evaluation");
  for (int i = 0; i < 50; ++i) {
    const Position position = RandomChessPosition(i, random);
    EXPECT_EQ(PlaceValue(position), PlaceValue(Turned(position))) << FenOf(position);
    Position other = position;
    other.to_play = 1 - other.to_play;
    EXPECT_EQ(PlaceValue(other), -PlaceValue(position)) << FenOf(position);
  }
}

// A queen is worth about nine pawns, a rook five, the small pieces three.
TEST(ChessEvaluationTest, CountsPieces) {
  const auto value = [](const std::string& rank) {
    return PlaceValue(PositionOf("4k3/8/8/8/8/8/" + rank + "/4K3 w - - 0 1")) -
           PlaceValue(PositionOf("4k3/8/8/8/8/8/8/4K3 w - - 0 1"));
  };
  EXPECT_NEAR(value("P7"), 100, 20);
  EXPECT_NEAR(value("1N6"), 320, 30);
  EXPECT_NEAR(value("1B6"), 330, 30);
  EXPECT_NEAR(value("R7"), 500, 30);
  EXPECT_LT(value("p7"), -100);  // about to promote
}

TEST(ChessEvaluationTest, LooksThroughCaptures) {
  // The queen may take a pawn, which another one protects; or one that nobody does.
  const Position guarded = PositionOf("4k3/8/2p5/3p4/8/8/8/3QK3 w - - 0 1");
  EXPECT_EQ(QuietValue(guarded), PlaceValue(guarded));
  const Position loose = PositionOf("4k3/8/p7/3p4/8/8/8/3QK3 w - - 0 1");
  EXPECT_GT(QuietValue(loose), PlaceValue(loose) + 80);
  // Black to move loses nothing that he can take first.
  const Position first = PositionOf("4k3/8/2p5/3p4/4Q3/8/8/4K3 b - - 0 1");
  EXPECT_GT(QuietValue(first), PlaceValue(first) + 800);
}

TEST(ChessEvaluationTest, WindowsChangeNothing) {
  RandomStream random(2, "evaluation");
  for (int i = 0; i < 60; ++i) {
    const Position position = RandomChessPosition(4 + i, random);
    // Positions whose plain tree is small.
    MoveList captures;
    position.ListMoves(position.colors[1 - position.to_play], &captures);
    if (captures.size() > 4) continue;
    EXPECT_EQ(QuietValue(position), PlainQuietValue(position, 8)) << FenOf(position);
  }
}

TEST(ChessEvaluationTest, LargePiecesAreTakenFirstBySmallOnes) {
  const Position position = PositionOf("4k3/P7/8/2q1r3/3P4/8/8/2R1K3 w - - 0 1");
  const auto value = [&](const char* move) { return CaptureValue(position, MoveOf(move)); };
  EXPECT_GT(value("d4c5"), value("c1c5"));  // the queen, by pawn before rook
  EXPECT_GT(value("c1c5"), value("d4e5"));  // queen before rook
  EXPECT_GT(value("a7a8q"), value("a7a8n"));
  EXPECT_GT(value("a7a8n"), 0);
  EXPECT_EQ(value("c1c2"), 0);
}

}  // namespace
}  // namespace lzero::chess::evaluation_test
