#include <gtest/gtest.h>

#include <algorithm>

#include "lzero/base/rng.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/start_board.h"

namespace lzero::othello_test {
namespace {

constexpr int kPass = 64;

using BoardPtr = std::unique_ptr<Board>;

BoardPtr Start() { return StartBoard(OthelloEntry()); }

std::string SavedPosition(uint64_t black, uint64_t white, uint8_t to_play) {
  StateWriter writer("test");
  writer.Write(black);
  writer.Write(white);
  writer.Write(to_play);
  return writer.Take();
}

// Eight rows of 'X', 'O' and anything else for free squares.
BoardPtr Position(const std::string& rows, int to_play) {
  std::string squares = rows;
  squares.erase(std::remove(squares.begin(), squares.end(), '\n'), squares.end());
  EXPECT_EQ(squares.size(), 64u);
  uint64_t black = 0, white = 0;
  for (int square = 0; square < 64; ++square) {
    if (squares[square] == 'X') black |= uint64_t{1} << square;
    if (squares[square] == 'O') white |= uint64_t{1} << square;
  }
  const std::string saved = SavedPosition(black, white, static_cast<uint8_t>(to_play));
  StateReader reader("test", saved);
  BoardPtr board = Start();
  const absl::Status status = board->Load(reader);
  EXPECT_TRUE(status.ok()) << status;
  return board;
}

std::vector<int> LegalActions(const Board& board) {
  std::vector<uint8_t> mask(board.num_actions());
  board.FillLegalActions(absl::MakeSpan(mask));
  std::vector<int> actions;
  for (int action = 0; action < board.num_actions(); ++action) {
    EXPECT_EQ(board.legal(action), mask[action] == 1) << action;
    if (mask[action] == 1) actions.push_back(action);
  }
  return actions;
}

std::string Rows(const Board& board) { return board.ToText().substr(0, 72); }

TEST(OthelloTest, BeginsCrossedWithFourMoves) {
  const BoardPtr board = Start();
  EXPECT_EQ(board->ToText(),
            "........\n........\n........\n...OX...\n"
            "...XO...\n........\n........\n........\nX to move\n");
  EXPECT_EQ(LegalActions(*board), (std::vector<int>{19, 26, 37, 44}));
  board->Play(19);
  EXPECT_EQ(board->ToText(),
            "........\n........\n...X....\n...XX...\n"
            "...XO...\n........\n........\n........\nO to move\n");
  EXPECT_EQ(LegalActions(*board), (std::vector<int>{18, 20, 34}));
  EXPECT_FALSE(board->legal(-1));
  EXPECT_FALSE(board->legal(65));
}

// The counts that programs for Othello agree on (first pass: depth 9).
TEST(OthelloTest, MoveSequencesAreCounted) {
  const auto env = OthelloEntry().factory({});
  EXPECT_EQ(*Perft(**env, 7), (std::vector<int64_t>{4, 12, 56, 244, 1396, 8200, 55092}));
}

TEST(OthelloTest, LinesAreTurnedInAllEightDirections) {
  const BoardPtr board = Position(
      "X.X.X...\n"
      ".OOOX...\n"
      "XO.OOOX.\n"
      ".OOOO...\n"
      "X.OOX...\n"
      "..O.....\n"
      "..X.....\n"
      "........\n",
      0);
  board->Play(18);
  EXPECT_EQ(Rows(*board),
            "X.X.X...\n"
            ".XXXX...\n"
            "XXXXXXX.\n"
            ".XXXO...\n"
            "X.XOX...\n"
            "..X.....\n"
            "..X.....\n"
            "........\n");
}

// Lines that no disc of one's own ends, but a free square or the edge, stay.
TEST(OthelloTest, OpenLinesStay) {
  const BoardPtr board = Position(
      "........\n"
      "..O.....\n"
      "OO.OX...\n"
      "..OOO...\n"
      "..OOO...\n"
      "..O.....\n"
      "..O.....\n"
      "..O.....\n",
      0);
  board->Play(18);
  EXPECT_EQ(Rows(*board),
            "........\n"
            "..O.....\n"
            "OOXXX...\n"
            "..OOO...\n"
            "..OOO...\n"
            "..O.....\n"
            "..O.....\n"
            "..O.....\n");
}

// The square after the last of a row is in the next row, and no neighbour.
TEST(OthelloTest, LinesDoNotGoAroundTheEdge) {
  const BoardPtr board = Position(
      "........\n"
      "........\n"
      "X.....OO\n"
      "X..OO...\n"
      "X..OO...\n"
      "O.......\n"
      "........\n"
      "........\n",
      0);
  EXPECT_EQ(LegalActions(*board), (std::vector<int>{48}));
}

TEST(OthelloTest, PassingIsForWhoeverCannotPlaceAndTheOtherCan) {
  const BoardPtr board = Position(
      "XO......\n"
      "........\n"
      "........\n"
      "...XX...\n"
      "...XX...\n"
      "........\n"
      "........\n"
      "........\n",
      1);
  EXPECT_EQ(LegalActions(*board), (std::vector<int>{kPass}));
  const std::string before = Rows(*board);
  board->Play(kPass);
  EXPECT_EQ(board->ToText(), before + "X to move\n");
  EXPECT_EQ(LegalActions(*board), (std::vector<int>{2}));
  board->Play(2);
  EXPECT_TRUE(board->finished());
  EXPECT_EQ(board->winner(), 0);
  EXPECT_TRUE(LegalActions(*board).empty());
  EXPECT_EQ(board->ToText().substr(72), "over: X 7, O 0\n");
}

// The shortest game: black takes every disc with his fifth. OpenSpiel 2.0.2: over, returns 1, -1.
TEST(OthelloTest, NineMovesCanTakeEverything) {
  const BoardPtr board = Start();
  for (const int move : {44, 29, 20, 45, 38, 43, 52, 37, 34}) {
    EXPECT_FALSE(board->finished());
    EXPECT_EQ(board->winner(), -1);
    board->Play(move);
  }
  EXPECT_TRUE(board->finished());
  EXPECT_EQ(board->winner(), 0);
  EXPECT_EQ(board->ToText().substr(72), "over: X 13, O 0\n");
}

TEST(OthelloTest, MoreDiscsWinAndEqualOnesDraw) {
  const std::string top = "XXXXXXXX\nXXXXXXXX\nXXXXXXXX\nXXXXXXXX\n";
  const std::string bottom = "OOOOOOOO\nOOOOOOOO\nOOOOOOOO\nOOOOOOOO\n";
  const BoardPtr draw = Position(top + bottom, 0);
  EXPECT_TRUE(draw->finished());
  EXPECT_EQ(draw->winner(), -1);
  EXPECT_EQ(draw->ToText().substr(72), "over: X 32, O 32\n");
  std::string more = bottom;
  more[0] = 'X';
  EXPECT_EQ(Position(top + more, 1)->winner(), 0);
  more = top;
  more[0] = 'O';
  EXPECT_EQ(Position(more + bottom, 0)->winner(), 1);
}

TEST(OthelloTest, PlanesAreFromTheMoversView) {
  const BoardPtr board = Start();
  board->Play(19);
  std::vector<float> planes(3 * 64);
  board->FillPlanes(absl::MakeSpan(planes));
  const auto ones = [&](int plane) {
    std::vector<int> squares;
    for (int square = 0; square < 64; ++square) {
      if (planes[plane * 64 + square] == 1.0f) squares.push_back(square);
    }
    return squares;
  };
  EXPECT_EQ(ones(0), (std::vector<int>{36}));
  EXPECT_EQ(ones(1), (std::vector<int>{19, 27, 28, 35}));
  EXPECT_TRUE(ones(2).empty());
  board->Play(18);
  board->FillPlanes(absl::MakeSpan(planes));
  EXPECT_EQ(ones(0), (std::vector<int>{19, 28, 35}));
  EXPECT_EQ(ones(1), (std::vector<int>{18, 27, 36}));
  EXPECT_EQ(ones(2).size(), 64u);
}

// The rules know no direction; the start is its own image in a half turn and along both diagonals.
TEST(OthelloTest, AllEightSymmetriesAndFourOfTheStart) {
  const auto env = OthelloEntry().factory({});
  const auto& symmetries = (*env)->spec().symmetries;
  ASSERT_EQ(symmetries.size(), 8u);
  const std::vector<float> start = (*env)->Reset(0).observation;
  std::vector<int> own_images;
  for (int which = 0; which < 8; ++which) {
    EXPECT_EQ(symmetries[which].action_image[kPass], kPass);
    std::vector<float> image(start.size());
    MapObservation(symmetries[which], start, absl::MakeSpan(image));
    if (image == start) own_images.push_back(which);
  }
  EXPECT_EQ(own_images, (std::vector<int>{0, 1, 6, 7}));
}

TEST(OthelloTest, EstimatesFavourCornersAndStayInside) {
  const std::string rows =
      "X.......\n"
      ".X......\n"
      "..O.....\n"
      "...XO...\n"
      "...OX...\n"
      "........\n"
      "........\n"
      "........\n";
  EXPECT_GT(Position(rows, 0)->Estimate(), 0.1);
  EXPECT_LT(Position(rows, 1)->Estimate(), -0.1);
  EXPECT_EQ(Start()->Estimate(), 0.0);
  RandomStream random(5, "othello test");
  const BoardPtr board = Start();
  while (!board->finished()) {
    EXPECT_LT(std::abs(board->Estimate()), 1.0);
    const std::vector<int> actions = LegalActions(*board);
    board->Play(actions[random.UniformInt(static_cast<int64_t>(actions.size()))]);
  }
}

TEST(OthelloTest, ImpossiblePositionsAreRefused) {
  const uint64_t black = uint64_t{1} << 28 | uint64_t{1} << 35;
  const uint64_t white = uint64_t{1} << 27 | uint64_t{1} << 36;
  const BoardPtr board = Start();
  board->Play(19);
  const std::string before = board->ToText();
  const auto error = [&](const std::string& saved) {
    StateReader reader("test", saved);
    return std::string(board->Load(reader).message());
  };
  const std::string discs =
      "saved state of 'test' is impossible: discs on top of each other, or a square of the start "
      "is "
      "empty";
  EXPECT_EQ(error(SavedPosition(black | 1, white | 1, 0)), discs);
  EXPECT_EQ(error(SavedPosition(uint64_t{1} << 28, white, 0)), discs);
  EXPECT_EQ(error(SavedPosition(black, white, 2)),
            "saved state of 'test' is impossible: player 2 is to move");
  EXPECT_EQ(board->ToText(), before);
  EXPECT_EQ(error(SavedPosition(black, white, 0)), "");
  EXPECT_EQ(board->ToText(), Start()->ToText());
}

TEST(OthelloTest, OptionsAreChecked) {
  EXPECT_EQ(OthelloEntry().factory({60}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(OthelloEntry().factory({0, 1.0, 10}).ok());
}

TEST(OthelloTest, DrawsDiscsOnGreen) {
  const Image image = Start()->ToImage();
  EXPECT_EQ(image.width, 380);
  EXPECT_EQ(image.height, 380);
  const auto center = [&](int row, int column) {
    return image.at(43 + 42 * column + 5, 43 + 42 * row + 5);
  };
  EXPECT_LT(center(3, 4).green, 60);                                   // black
  EXPECT_GT(center(3, 3).red, 220);                                    // white
  EXPECT_EQ(center(0, 0), (Color{22, 122, 76}));                       // free
  EXPECT_EQ(image.at(43 + 42 * 3, 43 + 42 * 2), (Color{12, 78, 48}));  // a move of black
}

}  // namespace
}  // namespace lzero::othello_test
