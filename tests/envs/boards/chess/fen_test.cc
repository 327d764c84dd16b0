#include "envs/boards/chess/fen.h"

#include "lzero/base/rng.h"
#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess::fen_test {
namespace {

TEST(ChessFenTest, ComesBack) {
  for (const char* fen : kChessPositions) EXPECT_EQ(FenOf(PositionOf(fen)), fen);
  for (const char* fen :
       {"rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
        "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 99 117", "k7/8/8/8/8/8/8/K7 w - - 100 9999"}) {
    EXPECT_EQ(FenOf(PositionOf(fen)), fen);
  }
}

TEST(ChessFenTest, CountersMayBeMissing) {
  EXPECT_EQ(FenOf(PositionOf("k7/8/8/8/8/8/8/K7 b - -")), "k7/8/8/8/8/8/8/K7 b - - 0 1");
  EXPECT_EQ(FenOf(PositionOf("  k7/8/8/8/8/8/8/K7 b  - - 7 ")), "k7/8/8/8/8/8/8/K7 b - - 7 1");
}

TEST(ChessFenTest, PiecesAreWhereTheyStand) {
  const Position position = PositionOf("4k3/1r6/8/8/8/6N1/8/K7 b - - 3 17");
  EXPECT_EQ(LetterAt(position, 60), 'k');
  EXPECT_EQ(LetterAt(position, 49), 'r');
  EXPECT_EQ(LetterAt(position, 22), 'N');
  EXPECT_EQ(LetterAt(position, 0), 'K');
  EXPECT_EQ(LetterAt(position, 1), '.');
  EXPECT_EQ(std::popcount(position.occupied()), 4);
  EXPECT_EQ(position.to_play, kBlack);
  EXPECT_EQ(position.clock, 3);
  EXPECT_EQ(position.move_number, 17);
  EXPECT_EQ(SquareName(22), "g3");
}

TEST(ChessFenTest, SaysWhatIsWrong) {
  const auto error = [](absl::string_view fen) {
    return std::string(ParseFen(fen).status().message());
  };
  // Fields.
  EXPECT_EQ(error(""), "number of fields: 0; allowed: 4 to 6");
  EXPECT_EQ(error("8/8 w -"), "number of fields: 3; allowed: 4 to 6");
  EXPECT_EQ(error("8/8/8 w - -"), "board is '8/8/8'; allowed: eight ranks with '/' between them");
  const std::string squares = "; allowed: eight squares of PNBRQKpnbrqk, 1 .. 8";
  EXPECT_EQ(error("k7/8/8/7/8/8/8/K7 w - -"), "rank 5 is '7'" + squares);
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K8 w - -"), "rank 1 is 'K8'" + squares);
  EXPECT_EQ(error("k7/8/8/8/8/8/8/8K w - -"), "rank 1 is '8K'" + squares);
  EXPECT_EQ(error("k7/8/8/8/8/3x4/8/K7 w - -"), "rank 3 is '3x4'" + squares);
  EXPECT_EQ(error("k7/8/8/8/8//8/K7 w - -"), "rank 3 is ''" + squares);
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 W - -"), "player to move is 'W'; allowed: w, b");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 w KK -"),
            "castling is 'KK'; allowed: some of KQkq, each once, or -");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 w x -"),
            "castling is 'x'; allowed: some of KQkq, each once, or -");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 w - e9"),
            "en passant is 'e9'; allowed: a square such as e3, or -");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 w - - 101"),
            "half moves is '101'; allowed: an integer from 0 to 100");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K7 w - - 0 x"),
            "move number is 'x'; allowed: an integer from 1 to 9999");
  // Positions.
  EXPECT_EQ(error("8/8/8/8/8/8/8/K7 w - -"), "black has 0 kings");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K1K5 w - -"), "white has 2 kings");
  EXPECT_EQ(error("k7/8/8/8/8/8/QQ6/KQPPPPPP w - -"), "a pawn is on the first or last rank");
  const std::string too_many = "white has more pieces than eight pawns can become";
  EXPECT_EQ(error("k7/8/8/8/8/P7/PPPPPPPP/K7 w - -"), too_many);
  EXPECT_EQ(error("k7/8/8/8/8/8/PPPPPPPP/KQQ5 w - -"), too_many);
  EXPECT_EQ(error("k7/8/8/8/NNN5/8/PPPPPPPP/K7 w - -"), too_many);
  EXPECT_EQ(error("k7/8/8/8/8/8/8/KQQQQQQQ b - -"), "");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K6R w K -"),
            "a king or rook that may castle is not where it began");
  EXPECT_EQ(error("r7/8/8/8/8/8/k7/4K2R w q -"),
            "a king or rook that may castle is not where it began");
  const std::string en_passant = "no pawn can be taken en passant there";
  EXPECT_EQ(error("k7/8/8/3pP3/8/8/8/K7 w - e6"), en_passant);    // white's own
  EXPECT_EQ(error("k7/8/8/3pP3/8/8/8/K7 b - d6"), en_passant);    // black's own
  EXPECT_EQ(error("k7/3n4/8/3pP3/8/8/8/K7 w - d6"), en_passant);  // came from nowhere
  EXPECT_EQ(error("k7/8/3n4/3pP3/8/8/8/K7 w - d6"), en_passant);  // jumped over a knight
  EXPECT_EQ(error("k7/8/8/3pP3/8/8/8/K7 w - d3"), en_passant);
  EXPECT_EQ(error("k7/8/8/3pP3/8/8/8/K7 w - d6"), "");
  EXPECT_EQ(error("k7/8/8/8/8/8/8/K6q b - -"), "the player who is not to move is in check");
  EXPECT_EQ(error("8/8/8/8/8/8/1k6/K7 w - -"), "the player who is not to move is in check");
}

// Whatever is read can be played, and comes back as itself.
TEST(ChessFenTest, NoTextBreaksIt) {
  constexpr absl::string_view kBytes = "pnbrqkPNBRQK12345678/ -wabcdefgh0\0\xff";
  RandomStream random(1, "fen");
  int num_read = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string fen = kChessPositions[i % 6];
    const int64_t num_changes = 1 + random.UniformInt(4);
    for (int64_t change = 0; change < num_changes; ++change) {
      const auto at = static_cast<size_t>(random.UniformInt(static_cast<int64_t>(fen.size())));
      const char byte = kBytes[random.UniformInt(static_cast<int64_t>(kBytes.size()))];
      const int64_t how = random.UniformInt(4);
      if (how == 0) fen.erase(at, 1 + random.UniformInt(3));
      if (how == 1) fen.insert(at, 1, byte);
      if (how == 2) fen[at] = byte;
      if (how == 3) std::swap(fen[at], fen[random.UniformInt(static_cast<int64_t>(fen.size()))]);
      if (fen.empty()) break;
    }
    const auto position = ParseFen(fen);
    if (!position.ok()) {
      ASSERT_FALSE(position.status().message().empty());
      continue;
    }
    ++num_read;
    ASSERT_EQ(*ParseFen(FenOf(*position)), *position) << fen;
    MoveList list;
    position->ListMoves(~Squares{0}, &list);
    for (const Move move : list) {
      Position next = *position;
      next.Play(move);
      ASSERT_EQ(next.Problem(), "") << fen << " " << MoveText(move);
    }
  }
  EXPECT_GT(num_read, 300);
}

}  // namespace
}  // namespace lzero::chess::fen_test
