#include "envs/boards/connect4.h"

#include <gtest/gtest.h>

#include <cmath>

#include "envs/boards/board_env.h"
#include "envs/entries.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/random_position.h"

namespace lzero::connect4_test {
namespace {

std::unique_ptr<Env> Make(const EnvOptions& options = {}) {
  return *Connect4Entry().factory(options);
}

Connect4Board After(const std::string& columns) {
  Connect4Board board;
  for (const char column : columns) board.Play(column - '0');
  return board;
}

TEST(Connect4Test, TheSpec) {
  const auto env = Make();
  EXPECT_EQ(env->spec().id, "connect4");
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{3, 6, 7}));
  EXPECT_EQ(env->spec().action.num_actions, 7);
  EXPECT_EQ(env->spec().symmetries.size(), 2u);
}

TEST(Connect4Test, ObservationIsFromTheMoversViewWithTheTopRowFirst) {
  const auto env = Make();
  std::vector<float> expected(126, 0.0f);
  for (int i = 84; i < 126; ++i) expected[i] = 1.0f;
  EXPECT_EQ(env->Reset(0).observation, expected);
  // X in column 2; O to move sees it as the other's, in the last row.
  TimeStep step = *env->Step(Action::Discrete(2));
  expected.assign(126, 0.0f);
  expected[42 + 5 * 7 + 2] = 1.0f;
  EXPECT_EQ(step.observation, expected);
  EXPECT_EQ(step.to_play, 1);
  step = *env->Step(Action::Discrete(2));  // O on top of it
  expected.assign(126, 0.0f);
  expected[5 * 7 + 2] = 1.0f;
  expected[42 + 4 * 7 + 2] = 1.0f;
  for (int i = 84; i < 126; ++i) expected[i] = 1.0f;
  EXPECT_EQ(step.observation, expected);
  EXPECT_EQ(*env->RenderText(), ".......\n.......\n.......\n.......\n..O....\n..X....\n");
}

TEST(Connect4Test, FourInARowWinInEveryDirection) {
  EXPECT_EQ(After("061626").winner(), -1);       // three
  EXPECT_EQ(After("0616263").winner(), 0);       // level
  EXPECT_EQ(After("0101010").winner(), 0);       // upright
  EXPECT_EQ(After("01122323363").winner(), 0);   // rising to the right
  EXPECT_EQ(After("65544343303").winner(), 0);   // rising to the left
  EXPECT_EQ(After("01010212").winner(), -1);     // X and O three upright each
  EXPECT_EQ(After("0011334").winner(), -1);      // two and two with a gap
  EXPECT_EQ(After("10605006060").winner(), -1);  // the top of a column and the bottom of the next
}

TEST(Connect4Test, TheWinnersMovePaysOneToTheMover) {
  const auto env = Make();
  TimeStep step = env->Reset(0);
  for (const int column : {0, 1, 0, 1, 0, 1, 2, 1}) {
    EXPECT_EQ(step.reward, 0.0f);
    step = *env->Step(Action::Discrete(column));
  }
  EXPECT_TRUE(step.terminated);
  EXPECT_EQ(step.reward, 1.0f);
  EXPECT_EQ(step.episode_return, -1.0);
  EXPECT_EQ(step.legal_action_mask, std::vector<uint8_t>(7, 0));
}

TEST(Connect4Test, FullColumnsAreRefused) {
  const auto env = Make();
  env->Reset(0);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(env->Step(Action::Discrete(3)).ok());
  EXPECT_EQ(env->Step(Action::Discrete(3)).status().message(),
            "action 3 is illegal here; 'connect4' takes now: 0 1 2 4 5 6");
}

// Rules written a second time, on characters, row 0 at the top.
class PlainBoard {
 public:
  bool legal(int column) const { return cells_[column] == '.' && !finished_; }
  void Play(int column) {
    int row = 5;
    while (cells_[row * 7 + column] != '.') --row;
    const char stone = num_stones_++ % 2 == 0 ? 'X' : 'O';
    cells_[row * 7 + column] = stone;
    won_ = HasFourThrough(row, column, stone);
    finished_ = won_ || num_stones_ == 42;
  }
  bool finished() const { return finished_; }
  int winner() const { return won_ ? (num_stones_ - 1) % 2 : -1; }
  std::string ToText() const {
    std::string text;
    for (int row = 0; row < 6; ++row) text += cells_.substr(row * 7, 7) + '\n';
    return text;
  }

 private:
  int Run(int row, int column, int down, int right, char stone) const {
    int length = 0;
    for (;;) {
      row += down, column += right;
      if (row < 0 || row > 5 || column < 0 || column > 6) return length;
      if (cells_[row * 7 + column] != stone) return length;
      ++length;
    }
  }
  bool HasFourThrough(int row, int column, char stone) const {
    for (const auto& [down, right] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}}) {
      const int length =
          1 + Run(row, column, down, right, stone) + Run(row, column, -down, -right, stone);
      if (length >= 4) return true;
    }
    return false;
  }

  std::string cells_ = std::string(42, '.');
  int num_stones_ = 0;
  bool won_ = false;
  bool finished_ = false;
};

// Random games to their end; the players avoid nothing, so draws are rare (about 1 in 400).
TEST(Connect4Test, RulesAgreeWithASecondRuleBook) {
  RandomStream random(1, "connect4 test");
  std::array<int, 3> ends = {0, 0, 0};  // draw, player 0, player 1
  for (int game = 0; game < 3000; ++game) {
    Connect4Board board;
    PlainBoard plain;
    while (!plain.finished()) {
      std::vector<int> legal;
      for (int column = 0; column < 7; ++column) {
        ASSERT_EQ(board.legal(column), plain.legal(column)) << plain.ToText();
        if (plain.legal(column)) legal.push_back(column);
      }
      const int column = legal[random.UniformInt(static_cast<int64_t>(legal.size()))];
      board.Play(column);
      plain.Play(column);
      ASSERT_EQ(board.finished(), plain.finished()) << plain.ToText();
      ASSERT_EQ(board.winner(), plain.winner()) << plain.ToText();
    }
    ASSERT_EQ(board.ToText(), plain.ToText());
    ++ends[1 + board.winner()];
  }
  EXPECT_GT(ends[0], 0);
  EXPECT_GT(ends[1], ends[2]);
  EXPECT_GT(ends[2], 1000);
}

// Published counts of move sequences: powers of 7 until columns fill and games end.
TEST(Connect4Test, PerftIsThePublishedOne) {
  const std::vector<int64_t> published = {7, 49, 343, 2401, 16807, 117649, 823536, 5673234};
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kDepth = 6;
#else
  constexpr int kDepth = 8;
#endif
  EXPECT_EQ(*Perft(*Make(), kDepth),
            std::vector<int64_t>(published.begin(), published.begin() + kDepth));
}

TEST(Connect4Test, OpeningsAreRandomAndUnfinished) {
  const auto env = Make({0, 1.0, 41});
  for (uint64_t seed = 0; seed < 200; ++seed) EXPECT_FALSE(env->Reset(seed).ended());
  EXPECT_EQ(Connect4Entry().factory({0, 1.0, 42}).status().message(),
            "random_opening_plies of 'connect4' is 42; allowed: 1 .. 41");
  EXPECT_EQ(Connect4Entry().factory({41, 0.0, 6}).status().message(),
            "max_episode_steps of 'connect4' is 41; allowed: 0 or at least 42, since a game is "
            "over after at most 42 steps and is never cut short");
}

absl::Status LoadStones(uint64_t first, uint64_t second, Connect4Board* board) {
  StateWriter writer("test");
  writer.Write(first);
  writer.Write(second);
  const std::string bytes = writer.Take();
  StateReader reader("test", bytes);
  return board->Load(reader);
}

TEST(Connect4Test, SavedPositionsComeBack) {
  for (const char* columns : {"", "3", "33333312", "0616263"}) {
    const Connect4Board board = After(columns);
    Connect4Board copy;
    ASSERT_TRUE(LoadStones(board.stones(0), board.stones(1), &copy).ok());
    EXPECT_EQ(copy.ToText(), board.ToText());
    EXPECT_EQ(copy.to_play(), board.to_play());
    EXPECT_EQ(copy.finished(), board.finished());
    EXPECT_EQ(copy.winner(), board.winner());
    EXPECT_EQ(copy.num_stones(), static_cast<int>(std::string(columns).size()));
  }
}

TEST(Connect4Test, ImpossiblePositionsAreRefused) {
  Connect4Board board = After("34");
  const auto error = [&](uint64_t first, uint64_t second) {
    return std::string(LoadStones(first, second, &board).message());
  };
  const std::string start = "saved state of 'test' is impossible: ";
  const auto column = [](int which, int bits) {
    return static_cast<uint64_t>(bits) << (7 * which);
  };
  EXPECT_EQ(error(1, 1), start + "stones on one square or off the board");
  EXPECT_EQ(error(column(0, 0100), 0), start + "stones on one square or off the board");
  EXPECT_EQ(error(column(7, 1), 0), start + "stones on one square or off the board");
  EXPECT_EQ(error(column(0, 2), 0), start + "a stone hangs in the air");
  EXPECT_EQ(error(column(0, 1), column(1, 4)), start + "a stone hangs in the air");
  EXPECT_EQ(error(3, 0), start + "the players did not take turns");
  EXPECT_EQ(error(0, 1), start + "the players did not take turns");
  // Four of X, upright, and four other stones of O: X won before O's last move.
  EXPECT_EQ(error(017, column(1, 7) | column(2, 1)), start + "play went on after four in a row");
  // X has 1 2 3 4 of column 0 under its own fifth stone.
  EXPECT_EQ(error(037, column(1, 7) | column(2, 1)), start + "no last move completes these fours");
  // X has four upright in two columns: whichever was first ended the game.
  EXPECT_EQ(error(017 | column(2, 017), column(1, 7) | column(3, 7) | column(4, 1)),
            start + "no last move completes these fours");
  EXPECT_EQ(board.ToText(), After("34").ToText());
  EXPECT_EQ(LoadStones(017, column(1, 7), &board).message(), "");
}

TEST(Connect4Test, EstimatesAreBoundedAndFollowTheOpenLines) {
  EXPECT_EQ(Connect4Board().Estimate(), 0.0);
  // One stone in the middle lies in 7 lines, in a corner in 3: 7 and 3 points against the mover.
  EXPECT_DOUBLE_EQ(After("3").Estimate(), -7.0 / 47.0);
  EXPECT_DOUBLE_EQ(After("0").Estimate(), -3.0 / 43.0);
  // Mirrored positions are worth the same.
  EXPECT_EQ(After("0130425").Estimate(), After("6536241").Estimate());
  // Three in a row with both ends open, O to move.
  EXPECT_LT(After("26364").Estimate(), -0.3);
  RandomStream random(2, "connect4 test");
  for (int game = 0; game < 100; ++game) {
    Connect4Board board;
    while (!board.finished()) {
      ASSERT_LT(std::fabs(board.Estimate()), 1.0);
      const int column = static_cast<int>(random.UniformInt(7));
      if (board.legal(column)) board.Play(column);
    }
  }
}

TEST(Connect4Test, DrawsItself) {
  const Image image = After("33").ToImage();
  EXPECT_GT(image.width, image.height);
  const auto center = [&](int row, int column) {
    return image.at(6 + 44 * column + 22, 6 + 44 * row + 22);
  };
  const Color empty = center(0, 0);
  EXPECT_EQ(center(3, 3), empty);
  EXPECT_NE(center(5, 3), empty);
  EXPECT_NE(center(4, 3), empty);
  EXPECT_NE(center(4, 3), center(5, 3));
}

// Against trying a stone on every empty square, those that none can fall on among them.
TEST(Connect4Test, FourthSquaresAreThoseThatCompleteFour) {
  RandomStream random(3, "connect4 test");
  int num_found = 0;
  for (int i = 0; i < 100; ++i) {
    const auto position = RandomPosition(Connect4Board(), i % 30, random);
    const auto& board = dynamic_cast<const Connect4Board&>(*position);
    for (const int player : {0, 1}) {
      uint64_t expected = 0;
      for (int bit = 0; bit < 49; ++bit) {
        const uint64_t square = (uint64_t{1} << bit) & connect4::kBoard & ~board.occupied();
        if (connect4::HasFour(board.stones(player) | square)) expected |= square;
      }
      ASSERT_EQ(connect4::FourthSquares(board.stones(player)) & ~board.occupied(), expected)
          << board.ToText();
      if (expected != 0) ++num_found;
    }
  }
  EXPECT_GT(num_found, 50);
}

TEST(Connect4DeathTest, AnIllegalMoveIsOurBug) { EXPECT_DEATH(After("0000000"), "action 0 on"); }

}  // namespace
}  // namespace lzero::connect4_test
