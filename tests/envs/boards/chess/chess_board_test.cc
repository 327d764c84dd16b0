#include <algorithm>

#include "absl/strings/match.h"
#include "envs/boards/players/alpha_beta.h"
#include "envs/boards/players/match.h"
#include "envs/boards/players/opponents.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/conformance.h"
#include "tests/envs/boards/chess/chess_testing.h"

namespace lzero::chess_board_test {
namespace {

absl::StatusOr<std::unique_ptr<Env>> Make(const std::string& fen, double openings = 0.0) {
  EnvOptions options;
  options.random_opening_fraction = openings;
  options.settings = {{"fen", fen}};
  return ChessEntry().factory(options);
}

int ActionOf(const Board& board, absl::string_view move) {
  return chess::ActionOf(MoveOf(move), board.to_play());
}

std::vector<float> PlanesOf(const Board& board) {
  std::vector<float> planes(19 * 64);
  board.FillPlanes(absl::MakeSpan(planes));
  return planes;
}

// The squares of a plane that are not 0, as text: "a1 b2".
std::string Ones(const Board& board, int plane) {
  const std::vector<float> planes = PlanesOf(board);
  std::string squares;
  for (int square = 0; square < 64; ++square) {
    const float value = planes[plane * 64 + square];
    EXPECT_TRUE(value == 0.0f || value == 1.0f);
    if (value == 1.0f) squares += (squares.empty() ? "" : " ") + chess::SquareName(square);
  }
  return squares;
}

// The line of the text that tells how the game stands.
std::string StatusOf(const Board& board) {
  const std::string text = board.ToText();
  const size_t begin = text.find("abcdefgh\n") + 9;
  return text.substr(begin, text.find('\n', begin) - begin);
}

std::string Saved(const Board& board) {
  StateWriter writer("test");
  board.Save(writer);
  return writer.Take();
}

absl::Status LoadInto(Board& board, const std::string& bytes) {
  StateReader reader("test", bytes);
  return board.Load(reader);
}

void ExpectSame(const Board& board, const Board& other) {
  ASSERT_EQ(board.ToText(), other.ToText());
  ASSERT_EQ(board.winner(), other.winner());
  ASSERT_EQ(board.finished(), other.finished());
  ASSERT_EQ(PlanesOf(board), PlanesOf(other));
  ASSERT_EQ(board.Estimate(), other.Estimate());
  ASSERT_EQ(Saved(board), Saved(other));
  std::vector<uint8_t> mask(board.num_actions()), other_mask(board.num_actions());
  board.FillLegalActions(absl::MakeSpan(mask));
  other.FillLegalActions(absl::MakeSpan(other_mask));
  ASSERT_EQ(mask, other_mask);
}

TEST(ChessBoardTest, ThePositionIsASetting) {
  const auto env = *ChessEntry().factory({});
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{19, 8, 8}));
  EXPECT_EQ(env->spec().action.num_actions, 1858);
  EXPECT_TRUE(env->spec().symmetries.empty());
  const auto black = *Make("4k3/8/8/8/8/8/4P3/4K3 b - - 0 7");
  EXPECT_EQ(black->Reset(0).to_play, 1);
  EXPECT_EQ(Make("4k3/8/8").status().message(),
            "fen of 'chess': number of fields: 1; allowed: 4 to 6");
  EXPECT_EQ(Make("4k3/8/8/8/8/8/8/4K3 w - -").status().message(),
            "fen of 'chess': the game is over there; got '4k3/8/8/8/8/8/8/4K3 w - -'");
  EXPECT_TRUE(ChessEntry().factory({12700}).ok());  // a cap that no game reaches
  EXPECT_FALSE(ChessEntry().factory({500}).ok());
}

TEST(ChessBoardTest, TextsShowTheBoard) {
  const auto board = ChessBoard(chess::kStartFen, {"e2e4", "c7c5"});
  EXPECT_EQ(board->ToText(),
            "8 rnbqkbnr\n7 pp.ppppp\n6 ........\n5 ..p.....\n4 ....P...\n3 ........\n2 PPPP.PPP\n"
            "1 RNBQKBNR\n  abcdefgh\nwhite to move, last move c7c5\n"
            "rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2\n");
}

TEST(ChessBoardTest, CheckmateWins) {
  auto board = ChessBoard(chess::kStartFen, {"f2f3", "e7e5", "g2g4"});
  EXPECT_FALSE(board->finished());
  board->Play(ActionOf(*board, "d8h4"));
  EXPECT_TRUE(board->finished());
  EXPECT_EQ(board->winner(), 1);
  EXPECT_EQ(StatusOf(*board), "over: black wins by checkmate, last move d8h4");
  std::vector<uint8_t> mask(1858);
  board->FillLegalActions(absl::MakeSpan(mask));
  EXPECT_EQ(std::count(mask.begin(), mask.end(), 1), 0);
  EXPECT_FALSE(board->legal(ActionOf(*board, "a2a3")));
  board = ChessBoard("7k/8/6K1/8/8/8/8/R7 w - - 0 1", {"a1a8"});
  EXPECT_EQ(board->winner(), 0);
  // By a promotion to a knight, and by castling.
  EXPECT_EQ(ChessBoard("6nr/5Ppk/6pp/8/8/8/8/K7 w - - 0 1", {"f7f8n"})->winner(), 0);
  EXPECT_FALSE(ChessBoard("6nr/5Ppk/6pp/8/8/8/8/K7 w - - 0 1", {"f7f8q"})->finished());
  EXPECT_EQ(ChessBoard("2rkr3/2p1p3/8/8/8/8/8/R3K3 w Q - 0 1", {"e1c1"})->winner(), 0);
}

TEST(ChessBoardTest, StalemateDraws) {
  const auto board = ChessBoard("7k/5K2/8/8/8/8/6Q1/8 w - - 0 1", {"g2g6"});
  EXPECT_TRUE(board->finished());
  EXPECT_EQ(board->winner(), -1);
  EXPECT_EQ(StatusOf(*board), "over: a draw by stalemate, last move g2g6");
}

TEST(ChessBoardTest, TooLittleMaterialDraws) {
  auto board = ChessBoard("7k/8/8/8/8/8/1p6/K6B w - - 0 1");
  EXPECT_FALSE(board->finished());
  board->Play(ActionOf(*board, "a1b2"));
  EXPECT_EQ(StatusOf(*board), "over: a draw, nobody can give mate, last move a1b2");
  EXPECT_EQ(board->winner(), -1);
  EXPECT_FALSE(ChessBoard("7k/8/8/8/8/8/1p6/K5R1 w - - 0 1", {"a1b2"})->finished());
}

TEST(ChessBoardTest, AHundredHalfMovesDraw) {
  const std::string fen = "7k/8/8/8/8/8/P7/KR6 w - - 98 80";
  auto board = ChessBoard(fen, {"b1b2"});
  EXPECT_FALSE(board->finished());
  board->Play(ActionOf(*board, "h8g8"));
  EXPECT_EQ(StatusOf(*board), "over: a draw by the rule of 50 moves, last move h8g8");
  // A pawn that moves, or a mate, comes first.
  EXPECT_FALSE(ChessBoard(fen, {"a2a3", "h8g8"})->finished());
  EXPECT_EQ(ChessBoard("7k/8/6K1/8/8/8/8/R7 w - - 99 80", {"a1a8"})->winner(), 0);
}

TEST(ChessBoardTest, TheThirdTimeInAPositionDraws) {
  const std::vector<std::string> circle = {"g1f3", "g8f6", "f3g1", "f6g8"};
  auto board = ChessBoard();
  for (int round = 0; round < 2; ++round) {
    for (const std::string& move : circle) {
      EXPECT_FALSE(board->finished());
      board->Play(ActionOf(*board, move));
    }
  }
  EXPECT_EQ(StatusOf(*board), "over: a draw by repetition, last move f6g8");
  EXPECT_EQ(board->winner(), -1);
}

// The same pieces are another position when something else may be played. If rights did not count,
// the start would be there for the third time after the second round.
TEST(ChessBoardTest, LostRightsMakeAnotherPosition) {
  const auto board = ChessBoard("r3k2r/p6p/8/8/8/8/P6P/R3K2R w KQkq - 0 1");
  const std::vector<std::string> circle = {"e1e2", "e8e7", "e2e1", "e7e8"};
  for (int ply = 0; ply < 10; ++ply) {
    ASSERT_FALSE(board->finished()) << ply;
    board->Play(ActionOf(*board, circle[ply % 4]));
  }
  EXPECT_TRUE(board->finished());  // both kings stepped forward for the third time
}

// The first position after the pawn's two steps counts as the later ones unless it may be taken.
TEST(ChessBoardTest, EnPassantMakesAnotherPositionWhereItIsLegal) {
  const auto repeats = [](const char* fen, const std::vector<std::string>& circle) {
    const auto board = ChessBoard(fen, {"e2e4"});
    for (int round = 0; round < 2; ++round) {
      for (const std::string& move : circle) {
        EXPECT_FALSE(board->finished());
        board->Play(ActionOf(*board, move));
      }
    }
    return board->finished();
  };
  EXPECT_FALSE(repeats("7k/8/8/8/3p4/8/4P3/7K w - - 0 1", {"h8g8", "h1g1", "g8h8", "g1h1"}));
  EXPECT_TRUE(repeats("7k/8/8/8/2p5/8/4P3/7K w - - 0 1", {"h8g8", "h1g1", "g8h8", "g1h1"}));
  // Taking would open the rank of the king.
  EXPECT_TRUE(repeats("8/8/8/8/k2p3R/8/4P3/7K w - - 0 1", {"a4a5", "h1g1", "a5a4", "g1h1"}));
}

TEST(ChessBoardTest, PlanesAreFromTheMoversView) {
  const auto board = ChessBoard(chess::kStartFen, {"e2e4"});  // black sees his own below
  EXPECT_EQ(Ones(*board, 0), "a2 b2 c2 d2 e2 f2 g2 h2");
  EXPECT_EQ(Ones(*board, 1), "b1 g1");
  EXPECT_EQ(Ones(*board, 2), "c1 f1");
  EXPECT_EQ(Ones(*board, 3), "a1 h1");
  EXPECT_EQ(Ones(*board, 4), "d1");
  EXPECT_EQ(Ones(*board, 5), "e1");
  EXPECT_EQ(Ones(*board, 6), "e5 a7 b7 c7 d7 f7 g7 h7");
  EXPECT_EQ(Ones(*board, 7), "b8 g8");
  EXPECT_EQ(Ones(*board, 8), "c8 f8");
  EXPECT_EQ(Ones(*board, 9), "a8 h8");
  EXPECT_EQ(Ones(*board, 10), "d8");
  EXPECT_EQ(Ones(*board, 11), "e8");
}

TEST(ChessBoardTest, PlanesTellTheRules) {
  const auto is_full = [](const Board& board, int plane) {
    const std::vector<float> planes = PlanesOf(board);
    return std::count(planes.begin() + plane * 64, planes.begin() + plane * 64 + 64, 1.0f) == 64;
  };
  // Castling: own short and long, the other's; black is to move.
  const auto castling = ChessBoard("r3k2r/8/8/8/8/8/8/R3K2R b Qk - 0 1");
  EXPECT_TRUE(is_full(*castling, 12));
  EXPECT_EQ(Ones(*castling, 13), "");
  EXPECT_EQ(Ones(*castling, 14), "");
  EXPECT_TRUE(is_full(*castling, 15));
  // En passant, turned.
  EXPECT_EQ(Ones(*ChessBoard("4k3/8/8/8/2p5/8/3P4/4K3 w - - 0 1", {"d2d4"}), 16), "d6");
  EXPECT_EQ(Ones(*ChessBoard("4k3/8/8/8/2p5/8/7P/4K3 w - - 0 1", {"h2h4"}), 16), "");
  // Repetition and the clock.
  auto board = ChessBoard("7k/8/8/8/8/8/P7/KR6 w - - 20 80");
  EXPECT_EQ(PlanesOf(*board)[18 * 64], 0.2f);
  EXPECT_FALSE(is_full(*board, 17));
  const auto go_round = [&board] {
    for (const char* move : {"b1b2", "h8g8", "b2b1", "g8h8"}) board->Play(ActionOf(*board, move));
  };
  go_round();
  EXPECT_TRUE(is_full(*board, 17));
  EXPECT_EQ(PlanesOf(*board)[18 * 64 + 63], 0.24f);
  EXPECT_FALSE(board->finished());
  go_round();
  EXPECT_TRUE(board->finished());
}

// Copies, and what is saved and loaded, go on as the board itself.
TEST(ChessBoardTest, CopiesAndSavedStatesAreTheSameInRandomGames) {
  RandomStream random(1, "chess board test");
  std::vector<uint8_t> mask;
  std::vector<int> actions;
  for (int game = 0; game < 12; ++game) {
    const auto board = ChessBoard(kChessPositions[game % 6]);
    const auto copy = ChessBoard("4k3/8/8/8/8/8/4P3/4K3 b - - 0 7");
    std::unique_ptr<Board> before = board->Clone();
    for (int ply = 0; ply < 150 && !board->finished(); ++ply) {
      ASSERT_TRUE(LoadInto(*copy, Saved(*board)).ok());
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*copy, *board));
      before->CopyFrom(*board);
      board->ListLegalActions(mask, actions);
      // Moves go back and forth often, so that positions come again.
      const int action = actions[random.UniformInt(std::min<int64_t>(3, actions.size()))];
      board->Play(action);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*before, *copy));
      copy->Play(action);
      before->Play(action);
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*copy, *board));
      ASSERT_NO_FATAL_FAILURE(ExpectSame(*before, *board));
      ASSERT_LT(std::abs(board->Estimate()), 1.0);
      ASSERT_LT(Saved(*board).size(), 1000u);
    }
  }
}

TEST(ChessBoardTest, ImpossibleStatesAreRefused) {
  const auto board = ChessBoard(chess::kStartFen, {"e2e4"});
  const std::string before = board->ToText(), good = Saved(*board);
  const size_t begin = StateWriter("test").Take().size();
  const auto error = [&](size_t byte, char value) {
    std::string bytes = good;
    bytes[begin + byte] = value;
    const std::string message(LoadInto(*board, bytes).message());
    EXPECT_EQ(board->ToText(), before);
    const std::string start = "saved state of 'test' is impossible: ";
    return absl::StartsWith(message, start) ? message.substr(start.size()) : message;
  };
  EXPECT_EQ(error(8, 0x43), "a square holds two pieces, or half of one");  // a knight on a1
  EXPECT_EQ(error(40, 0), "a square holds two pieces, or half of one");    // white, but no king
  EXPECT_EQ(error(56, 2), "player to move, castling rights or half moves");
  EXPECT_EQ(error(57, 16), "player to move, castling rights or half moves");
  EXPECT_EQ(error(58, 77), "no pawn can be taken en passant there");
  EXPECT_EQ(error(58, 20), "");
  EXPECT_EQ(error(59, 101), "player to move, castling rights or half moves");
  EXPECT_EQ(error(62, 65), "the last move");
  EXPECT_EQ(error(64, 7), "the last move");
  EXPECT_EQ(LoadInto(*board, good + "x").code(), absl::StatusCode::kInvalidArgument);
  // One position before, and no half move since.
  auto moved = ChessBoard(chess::kStartFen, {"g1f3"});
  std::string bytes = Saved(*moved);
  bytes[begin + 59] = 0;
  EXPECT_EQ(LoadInto(*board, bytes).message(),
            "saved state of 'test' is impossible: more positions than half moves");
  EXPECT_EQ(board->ToText(), before);
  EXPECT_TRUE(LoadInto(*board, Saved(*moved)).ok());
  EXPECT_EQ(board->ToText(), moved->ToText());
}

// No change of one byte of a state crashes anything.
TEST(ChessBoardTest, DamagedStatesAreRefusedOrPlayed) {
  const auto start = ChessBoard(kChessPositions[1], {"e1g1", "e8c8"});
  const std::string good = Saved(*start);
  RandomStream random(3, "chess board test");
  const auto board = ChessBoard();
  std::vector<uint8_t> mask;
  std::vector<int> actions;
  int num_loaded = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = good;
    for (int64_t change = random.UniformInt(3); change >= 0; --change) {
      bytes[random.UniformInt(static_cast<int64_t>(bytes.size()))] ^= 1 << random.UniformInt(8);
    }
    if (!LoadInto(*board, bytes).ok()) continue;
    ++num_loaded;
    board->ListLegalActions(mask, actions);
    if (!actions.empty())
      board->Play(actions[random.UniformInt(static_cast<int64_t>(actions.size()))]);
    ASSERT_LT(std::abs(board->Estimate()), 1.0);
    ASSERT_FALSE(board->ToText().empty());
  }
  EXPECT_GT(num_loaded, 100);
}

TEST(ChessBoardTest, ConformsFromOtherPositions) {
  for (const char* fen : {kChessPositions[1], "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 90 117"}) {
    const auto make = [fen] { return Make(fen, 0.5); };
    for (const ConformanceCheck& check : RunConformance(make, {1, 50})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

TEST(ChessBoardTest, CapturesAreTriedFirst) {
  const auto board = ChessBoard("4k3/8/8/3q4/4P3/8/8/4K3 w - - 0 1");
  EXPECT_GT(board->Urgency(ActionOf(*board, "e4d5")), 0);
  EXPECT_EQ(board->Urgency(ActionOf(*board, "e4e5")), 0);
  EXPECT_EQ(board->Urgency(ActionOf(*board, "e4e6")), 0);  // illegal
}

// Mate in two, by sacrificing the queen on a smothered king: 1. Qg8+ Rxg8 2. Nf7.
TEST(ChessBoardTest, LookingAheadFindsMates) {
  const auto board = ChessBoard("r6k/6pp/7N/8/8/1Q6/8/4K3 w - - 0 1");
  const AlphaBetaPlayer::Analysis analysis = AlphaBetaPlayer(3, 0).Analyze(*board);
  EXPECT_EQ(analysis.value, AlphaBetaPlayer::kWinValue - 3);
  EXPECT_EQ(analysis.best_actions, std::vector<int>{ActionOf(*board, "b3g8")});
}

TEST(ChessBoardTest, LookingAheadBeatsChance) {
  const auto env = *ChessEntry().factory({});
  ThreadPool pool(1);
  const auto player = *MakeOpponentSide("alpha_beta:2", 1, &pool);
  const auto random = *MakeOpponentSide("random", 2, &pool);
  MatchPlan plan;
  plan.num_games = 20;
  const MatchScore score =
      PlayMatch(dynamic_cast<BoardEnv&>(*env), *player, *random, plan)->total();
  EXPECT_GE(score.wins, 19);
  EXPECT_EQ(score.losses, 0);
}

TEST(ChessBoardDeathTest, AnIllegalMoveIsOurBug) {
  EXPECT_DEATH(ChessBoard(chess::kStartFen, {"e2e5"}), "action [0-9]+ on");
}

}  // namespace
}  // namespace lzero::chess_board_test
