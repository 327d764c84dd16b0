#include <gtest/gtest.h>

#include <cmath>

#include "lzero/base/rng.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/start_board.h"

namespace lzero::gomoku_test {
namespace {

absl::StatusOr<std::unique_ptr<Env>> Make(const std::string& size, double fraction = 0.0) {
  EnvOptions options;
  options.random_opening_fraction = fraction;
  options.settings = {{"board_size", size}};
  return GomokuEntry().factory(options);
}

std::unique_ptr<Board> After(int size, const std::vector<int>& actions) {
  std::unique_ptr<Board> board = GomokuBoard(size);
  for (const int action : actions) board->Play(action);
  return board;
}

TEST(GomokuTest, TheSizeIsASetting) {
  const auto fifteen = *GomokuEntry().factory({});
  EXPECT_EQ(fifteen->spec().observation.shape, (std::vector<int64_t>{3, 15, 15}));
  EXPECT_EQ(fifteen->spec().action.num_actions, 225);
  EXPECT_EQ(fifteen->spec().symmetries.size(), 8u);
  const auto nine = *Make("9");
  EXPECT_EQ(nine->spec().id, "gomoku");
  EXPECT_EQ(nine->spec().observation.shape, (std::vector<int64_t>{3, 9, 9}));
  EXPECT_EQ(nine->spec().action.num_actions, 81);
  EXPECT_EQ(Make("4").status().message(),
            "board_size of 'gomoku': out of range; got '4'; allowed: an integer from 5 to 19");
  EXPECT_FALSE(Make("20").ok());
}

TEST(GomokuTest, ObservationIsFromTheMoversView) {
  const auto env = *Make("5");
  TimeStep step = env->Reset(0);
  std::vector<float> expected(75, 0.0f);
  std::fill(expected.begin() + 50, expected.end(), 1.0f);
  EXPECT_EQ(step.observation, expected);
  step = *env->Step(Action::Discrete(7));  // row 1, column 2
  expected.assign(75, 0.0f);
  expected[25 + 7] = 1.0f;
  EXPECT_EQ(step.observation, expected);
  EXPECT_EQ(step.to_play, 1);
  step = *env->Step(Action::Discrete(20));
  expected.assign(75, 0.0f);
  expected[7] = 1.0f;
  expected[25 + 20] = 1.0f;
  std::fill(expected.begin() + 50, expected.end(), 1.0f);
  EXPECT_EQ(step.observation, expected);
  EXPECT_EQ(*env->RenderText(), ".....\n..X..\n.....\n.....\nO....\n");
  EXPECT_EQ(env->Step(Action::Discrete(7)).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(GomokuTest, FiveWinAndFourDoNot) {
  // On 6 x 6: level, upright and both diagonals; O plays where it does no harm.
  EXPECT_EQ(After(6, {0, 6, 1, 7, 2, 8, 3, 9})->winner(), -1);
  EXPECT_EQ(After(6, {0, 6, 1, 7, 2, 8, 3, 9, 4})->winner(), 0);
  EXPECT_EQ(After(6, {0, 1, 6, 2, 12, 3, 18, 4, 24})->winner(), 0);
  EXPECT_EQ(After(6, {0, 1, 7, 2, 14, 3, 21, 4, 28})->winner(), 0);
  EXPECT_EQ(After(6, {5, 0, 10, 1, 15, 2, 20, 3, 25})->winner(), 0);
  EXPECT_EQ(After(6, {35, 0, 33, 1, 31, 2, 30, 3, 28, 4})->winner(), 1);
  // 3 4 5 of row 0 and 6 7 of row 1 follow each other in number, not on the board.
  EXPECT_EQ(After(6, {3, 20, 4, 22, 5, 24, 6, 26, 7})->winner(), -1);
}

// Freestyle: six in a row win as five do. X has 0 1 2 and 4 5, then fills 3.
TEST(GomokuTest, MoreThanFiveWinToo) {
  const auto board = After(7, {0, 14, 1, 16, 2, 28, 4, 30, 5, 32});
  EXPECT_FALSE(board->finished());
  board->Play(3);
  EXPECT_EQ(board->winner(), 0);
  EXPECT_TRUE(board->finished());
  EXPECT_FALSE(board->legal(40));
}

// Counts without a win: 25 * 24 * 23 * 22 on 5 x 5.
TEST(GomokuTest, PerftIsAProductUntilSomeoneWins) {
  EXPECT_EQ(*Perft(**Make("5"), 4), (std::vector<int64_t>{25, 600, 13800, 303600}));
}

// Rules and points written a second time: every line of five is looked at after every move.
// 0 or 1, the player whose stone it is; -1: empty.
int OwnerOf(const Board& board, int size, int square) {
  const char stone = board.ToText()[square + square / size];
  return stone == 'X' ? 0 : stone == 'O' ? 1 : -1;
}

struct PlainLines {
  int winner = -1;
  int points = 0;  // of player 0 less those of player 1
};

PlainLines LookAtAllLines(const Board& board, int size) {
  constexpr int kValues[] = {0, 1, 5, 25, 125};
  PlainLines seen;
  for (int row = 0; row < size; ++row) {
    for (int column = 0; column < size; ++column) {
      for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
        const int last_row = row + 4 * down;
        const int last_column = column + 4 * right;
        if (last_row >= size || last_column < 0 || last_column >= size) continue;
        int count[2] = {0, 0};
        for (int i = 0; i < 5; ++i) {
          const int owner = OwnerOf(board, size, (row + i * down) * size + column + i * right);
          if (owner >= 0) ++count[owner];
        }
        for (const int player : {0, 1}) {
          if (count[player] == 5) {
            seen.winner = player;
          } else if (count[1 - player] == 0) {
            seen.points += (player == 0 ? 1 : -1) * kValues[count[player]];
          }
        }
      }
    }
  }
  return seen;
}

TEST(GomokuTest, RulesAndEstimateAgreeWithASecondRuleBook) {
  RandomStream random(1, "gomoku test");
  int num_won = 0;
  for (int game = 0; game < 30; ++game) {
    const int size = 5 + game % 5;
    const auto board = GomokuBoard(size);
    int num_stones = 0;
    while (!board->finished()) {
      const int action = static_cast<int>(random.UniformInt(size * size));
      ASSERT_EQ(board->legal(action), OwnerOf(*board, size, action) < 0);
      if (!board->legal(action)) continue;
      board->Play(action);
      ++num_stones;
      const PlainLines seen = LookAtAllLines(*board, size);
      ASSERT_EQ(board->winner(), seen.winner) << board->ToText();
      if (seen.winner >= 0) break;
      const int points = board->to_play() == 0 ? seen.points : -seen.points;
      ASSERT_DOUBLE_EQ(board->Estimate(), points / (std::abs(points) + 150.0)) << board->ToText();
      ASSERT_LT(std::fabs(board->Estimate()), 1.0);
    }
    if (board->winner() >= 0) ++num_won;
    ASSERT_EQ(board->finished(), board->winner() >= 0 || num_stones == size * size);
  }
  EXPECT_GT(num_won, 3);
  EXPECT_LT(num_won, 30);  // draws among them
}

TEST(GomokuTest, SavedPositionsComeBack) {
  RandomStream random(2, "gomoku test");
  const auto board = GomokuBoard(6);
  while (!board->finished()) {
    const int action = static_cast<int>(random.UniformInt(36));
    if (board->legal(action)) board->Play(action);
    StateWriter writer("test");
    board->Save(writer);
    const std::string bytes = writer.Take();
    StateReader reader("test", bytes);
    const auto copy = GomokuBoard(6);
    ASSERT_TRUE(copy->Load(reader).ok());
    EXPECT_EQ(copy->ToText(), board->ToText());
    EXPECT_EQ(copy->winner(), board->winner());
    EXPECT_EQ(copy->finished(), board->finished());
    EXPECT_EQ(copy->Estimate(), board->Estimate());
    EXPECT_EQ(copy->ToImage().pixels, board->ToImage().pixels);
  }
}

TEST(GomokuTest, ImpossiblePositionsAreRefused) {
  const auto board = After(5, {12});
  // Squares as 'X', 'O' and '.' without the rows that are empty to the end.
  const auto error = [&](std::string squares, int last_square, int size = 25) {
    std::vector<int8_t> cells;
    squares.resize(size, '.');
    for (const char c : squares) cells.push_back(c == 'X' ? 0 : c == 'O' ? 1 : c == '.' ? -1 : 7);
    StateWriter writer("test");
    writer.WriteVector(cells);
    writer.Write(static_cast<int32_t>(last_square));
    const std::string bytes = writer.Take();
    StateReader reader("test", bytes);
    const std::string message(board->Load(reader).message());
    const std::string start = "saved state of 'test' is impossible: ";
    return message.rfind(start, 0) == 0 ? message.substr(start.size()) : message;
  };
  EXPECT_EQ(error("", -1, 36), "36 squares of 25");
  EXPECT_EQ(error("?", -1), "a square holds 7");
  EXPECT_EQ(error("XX", 0), "the players did not take turns");
  EXPECT_EQ(error("O", 0), "the players did not take turns");
  EXPECT_EQ(error("XO", 25), "last square 25");
  EXPECT_EQ(error("XO", -2), "last square -2");
  EXPECT_EQ(error("XO", -1), "the last stone is not where it should be");
  EXPECT_EQ(error("XO", 0), "the last stone is not where it should be");
  EXPECT_EQ(error("XO", 2), "the last stone is not where it should be");
  // X has the first row, O four of the second; O moved last, or X elsewhere.
  EXPECT_EQ(error("XXXXXOOOO.O", 10), "play went on after five");
  EXPECT_EQ(error("XXXXXOOOOOX", 10), "play went on after five");
  EXPECT_EQ(board->ToText(), After(5, {12})->ToText());
  EXPECT_EQ(error("XXXXXOOOO", 2), "");
  EXPECT_EQ(board->winner(), 0);
  EXPECT_EQ(error("", -1), "");
  EXPECT_EQ(board->ToText(), GomokuBoard(5)->ToText());
}

TEST(GomokuTest, SmallBoardsConformWithOpenings) {
  const auto make = [] { return Make("6", 1.0); };
  for (const ConformanceCheck& check : RunConformance(make, {1, 200})) {
    EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
  }
}

TEST(GomokuTest, DrawsItselfWithTheLastStoneMarked) {
  const auto board = After(6, {0, 1, 2});  // lines 56 pixels apart, the first at 46
  const Image image = board->ToImage();
  const auto at = [&](int square, int right) { return image.at(46 + 56 * square + right, 46); };
  EXPECT_EQ(at(0, 0), at(0, 20));  // black, no mark
  EXPECT_NE(at(1, 0), at(0, 0));   // white
  EXPECT_EQ(at(2, 20), at(0, 20));
  EXPECT_NE(at(2, 8), at(0, 8));  // marked
}

TEST(GomokuDeathTest, AnIllegalMoveIsOurBug) { EXPECT_DEATH(After(5, {3, 3}), "action 3 on"); }

}  // namespace
}  // namespace lzero::gomoku_test
