#include "envs/boards/tictactoe.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <set>

#include "envs/boards/board_env.h"
#include "envs/entries.h"
#include "lzero/env/check/perft.h"

namespace lzero::tictactoe_test {
namespace {

std::unique_ptr<Env> Make(double opening_fraction = 0.0, int64_t opening_plies = 6) {
  return *TicTacToeEntry().factory({0, opening_fraction, opening_plies});
}

TimeStep Play(Env& env, const std::vector<int>& actions) {
  TimeStep step = env.Reset(0);
  for (const int action : actions) step = *env.Step(Action::Discrete(action));
  return step;
}

// Rules written a second time, on characters: the winner of a board of 'X', 'O', '.', or '.'.
char WinnerOf(const std::string& cells) {
  for (int i = 0; i < 3; ++i) {
    for (const auto& [start, stride] : {std::pair{3 * i, 1}, std::pair{i, 3}}) {
      const char a = cells[start];
      if (a != '.' && a == cells[start + stride] && a == cells[start + 2 * stride]) return a;
    }
  }
  const char middle = cells[4];
  if (middle != '.' &&
      ((cells[0] == middle && cells[8] == middle) || (cells[2] == middle && cells[6] == middle))) {
    return middle;
  }
  return '.';
}

std::string Cells(const TicTacToeBoard& board) {
  std::string text = board.ToText();
  text.erase(std::remove(text.begin(), text.end(), '\n'), text.end());
  return text;
}

// All 3^9 placements: winners, ends and legal moves against the second rule book.
TEST(TicTacToeTest, RulesAgreeWithASecondRuleBookOnEveryPlacement) {
  for (int code = 0; code < 19683; ++code) {
    std::string cells(9, '.');
    TicTacToeBoard board;
    int rest = code;
    for (int square = 0; square < 9; ++square, rest /= 3) {
      cells[square] = ".XO"[rest % 3];
      if (rest % 3 > 0) board.stones[rest % 3 - 1] |= static_cast<uint16_t>(1 << square);
    }
    ASSERT_EQ(Cells(board), cells);
    const char winner = WinnerOf(cells);
    const bool full = cells.find('.') == std::string::npos;
    ASSERT_EQ(board.finished(), winner != '.' || full) << cells;
    if (board.winner() < 0) {
      ASSERT_EQ(winner, '.') << cells;
    } else {
      // With a line of each colour (unreachable) either answer will do.
      ASSERT_NE(winner, '.') << cells;
    }
    for (int square = 0; square < 9; ++square) {
      ASSERT_EQ(board.legal(square), cells[square] == '.' && !board.finished()) << cells;
    }
  }
}

TEST(TicTacToeTest, ObservationIsFromTheMoversView) {
  const auto env = Make();
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{3, 3, 3}));
  TimeStep step = env->Reset(0);
  EXPECT_EQ(step.to_play, 0);
  std::vector<float> expected(27, 0.0f);
  std::fill(expected.begin() + 18, expected.end(), 1.0f);
  EXPECT_EQ(step.observation, expected);
  step = Play(*env, {4});  // X in the middle, O to move: the middle is the other's
  EXPECT_EQ(step.to_play, 1);
  expected.assign(27, 0.0f);
  expected[9 + 4] = 1.0f;
  EXPECT_EQ(step.observation, expected);
  step = Play(*env, {4, 2});
  EXPECT_EQ(step.to_play, 0);
  expected.assign(27, 0.0f);
  expected[4] = 1.0f;
  expected[9 + 2] = 1.0f;
  std::fill(expected.begin() + 18, expected.end(), 1.0f);
  EXPECT_EQ(step.observation, expected);
  EXPECT_EQ(step.legal_action_mask, (std::vector<uint8_t>{1, 1, 0, 1, 0, 1, 1, 1, 1}));
  EXPECT_EQ(*env->RenderText(), "..O\n.X.\n...\n");
}

TEST(TicTacToeTest, TheWinnersMovePaysOneToTheMover) {
  const auto env = Make();
  const TimeStep first_wins = Play(*env, {0, 3, 1, 4, 2});
  EXPECT_TRUE(first_wins.terminated);
  EXPECT_EQ(first_wins.reward, 1.0f);
  EXPECT_EQ(first_wins.episode_return, 1.0);
  const TimeStep second_wins = Play(*env, {0, 3, 1, 4, 8, 5});
  EXPECT_TRUE(second_wins.terminated);
  EXPECT_EQ(second_wins.reward, 1.0f);
  EXPECT_EQ(second_wins.episode_return, -1.0);
  EXPECT_EQ(second_wins.legal_action_mask, std::vector<uint8_t>(9, 0));
  const TimeStep draw = Play(*env, {0, 4, 8, 1, 7, 6, 2, 5, 3});
  EXPECT_TRUE(draw.terminated);
  EXPECT_EQ(draw.reward, 0.0f);
  EXPECT_EQ(draw.episode_return, 0.0);
}

TEST(TicTacToeTest, OccupiedSquaresAreRefused) {
  const auto env = Make();
  Play(*env, {4});
  EXPECT_EQ(env->Step(Action::Discrete(4)).status().message(),
            "action 4 is illegal here; 'tictactoe' takes now: 0 1 2 3 5 6 7 8");
}

// Published counts of move sequences: 9!/(9-d)! less the games that ended before.
const std::vector<int64_t> kPublished = {9, 72, 504, 3024, 15120, 54720, 148176, 200448, 127872};

void CountMoves(const TicTacToeBoard& board, size_t ply, std::vector<int64_t>& counts) {
  for (int action = 0; action < 9; ++action) {
    if (!board.legal(action)) continue;
    ++counts[ply];
    CountMoves(board.After(action), ply + 1, counts);
  }
}

TEST(TicTacToeTest, BoardsHaveThePublishedMoveCounts) {
  std::vector<int64_t> counts(10, 0);
  CountMoves(TicTacToeBoard(), 0, counts);
  EXPECT_EQ(std::vector<int64_t>(counts.begin(), counts.end() - 1), kPublished);
}

TEST(TicTacToeTest, PerftIsThePublishedOne) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kDepth = 7;
#else
  constexpr int kDepth = 9;
#endif
  EXPECT_EQ(*Perft(*Make(), kDepth),
            std::vector<int64_t>(kPublished.begin(), kPublished.begin() + kDepth));
}

TEST(TicTacToeTest, RandomOpeningsAreLegalUnfinishedAndOfEveryLength) {
  const auto env = Make(1.0, 6);
  std::map<int, int> lengths;
  std::set<std::vector<float>> boards;
  for (uint64_t seed = 0; seed < 600; ++seed) {
    const TimeStep start = env->Reset(seed);
    EXPECT_FALSE(start.ended());
    EXPECT_EQ(start.episode_return, 0.0);
    const int plies = 9 - static_cast<int>(std::count(start.legal_action_mask.begin(),
                                                      start.legal_action_mask.end(), 1));
    EXPECT_EQ(start.to_play, plies % 2);
    ++lengths[plies];
    boards.insert(start.observation);
    EXPECT_EQ(env->Reset(seed).observation, start.observation);
  }
  EXPECT_EQ(lengths.size(), 6u);
  // 100 expected of each length; 60 is 4.4 standard deviations away.
  for (const auto& [plies, count] : lengths) {
    EXPECT_GE(plies, 1);
    EXPECT_LE(plies, 6);
    EXPECT_GT(count, 60) << plies;
  }
  EXPECT_GT(boards.size(), 250u);
}

TEST(TicTacToeTest, OpeningsHappenWithTheGivenProbability) {
  const auto env = Make(0.25, 8);
  int num_opened = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    const TimeStep start = env->Reset(seed);
    ASSERT_FALSE(start.ended());
    if (std::count(start.legal_action_mask.begin(), start.legal_action_mask.end(), 1) < 9) {
      ++num_opened;
    }
  }
  // 250 expected, standard deviation 13.7.
  EXPECT_NEAR(num_opened, 250, 60);
}

TEST(TicTacToeTest, OptionsOutsideTheirRangeAreRefused) {
  const auto error = [](int64_t cap, double fraction, int64_t plies) {
    return std::string(TicTacToeEntry().factory({cap, fraction, plies}).status().message());
  };
  EXPECT_EQ(error(9, 0.0, 6), "");
  EXPECT_EQ(error(0, 0.0, 99), "");  // not asked for
  EXPECT_EQ(error(5, 0.0, 6),
            "max_episode_steps of 'tictactoe' is 5; allowed: 0 or at least 9, since a game is "
            "over after at most 9 steps and is never cut short");
  EXPECT_EQ(error(0, 1.5, 6), "random_opening_fraction of 'tictactoe' is 1.5; allowed: 0 .. 1");
  EXPECT_EQ(error(0, std::nan(""), 6),
            "random_opening_fraction of 'tictactoe' is nan; allowed: 0 .. 1");
  EXPECT_EQ(error(0, 0.5, 0), "random_opening_plies of 'tictactoe' is 0; allowed: 1 .. 8");
  EXPECT_EQ(error(0, 0.5, 9), "random_opening_plies of 'tictactoe' is 9; allowed: 1 .. 8");
}

TEST(TicTacToeTest, ImpossibleBoardsAreRefused) {
  const auto env = Make();
  Play(*env, {4, 0});
  const std::string good = *env->Save();
  const auto load = [&](uint16_t first, uint16_t second) {
    std::string state = good;
    std::memcpy(state.data() + state.size() - 4, &first, 2);
    std::memcpy(state.data() + state.size() - 2, &second, 2);
    return env->Load(state).code();
  };
  EXPECT_EQ(load(1, 2), absl::StatusCode::kOk);
  EXPECT_EQ(load(1, 1), absl::StatusCode::kInvalidArgument);                   // overlap
  EXPECT_EQ(load(3, 0), absl::StatusCode::kInvalidArgument);                   // two more of X
  EXPECT_EQ(load(0, 1), absl::StatusCode::kInvalidArgument);                   // O began
  EXPECT_EQ(load(512, 1), absl::StatusCode::kInvalidArgument);                 // off the board
  EXPECT_EQ(load(0b111, 0b11000), absl::StatusCode::kOk);                      // X has just won
  EXPECT_EQ(load(0b111, 0b1011000), absl::StatusCode::kInvalidArgument);       // and O moved on
  EXPECT_EQ(load(0b11000, 0b111), absl::StatusCode::kInvalidArgument);         // O moved twice
  EXPECT_EQ(load(0b11011000, 0b111), absl::StatusCode::kInvalidArgument);      // X moved on
  EXPECT_EQ(load(0b110000001, 0b111000), absl::StatusCode::kOk);               // O has just won
  EXPECT_EQ(load(0b111000111, 0b110000), absl::StatusCode::kInvalidArgument);  // far too many
}

TEST(TicTacToeTest, ABoardShowsItselfAsTheEnvironmentDoes) {
  const auto env = Make();
  TicTacToeBoard board;
  env->Reset(0);
  for (const int action : {4, 0, 2, 6, 3, 5, 8, 7, 1}) {
    board = board.After(action);
    const TimeStep from_env = *env->Step(Action::Discrete(action));
    const TimeStep from_board = TimeStepOf(board, 27);
    EXPECT_EQ(from_board.observation, from_env.observation);
    EXPECT_EQ(from_board.legal_action_mask, from_env.legal_action_mask);
    EXPECT_EQ(from_board.to_play, from_env.to_play);
    EXPECT_EQ(from_board.terminated, from_env.terminated);
  }
}

TEST(TicTacToeTest, DrawsItself) {
  const auto env = Make();
  Play(*env, {0, 4});
  const Image image = *env->RenderRgb();
  const auto at = [&](int square, int right) {  // of the middle of a square
    return image.at(8 + 64 * (square % 3) + 32 + right, 8 + 64 * (square / 3) + 32);
  };
  const Color paper = at(8, 0);
  EXPECT_NE(at(0, 0), paper);  // where the strokes of the cross meet
  EXPECT_EQ(at(0, 20), paper);
  EXPECT_EQ(at(4, 0), paper);  // inside the ring
  EXPECT_NE(at(4, 20), paper);
  EXPECT_NE(at(4, 20), at(0, 0));
}

TEST(TicTacToeDeathTest, AnIllegalMoveOnABoardIsOurBug) {
  EXPECT_DEATH(TicTacToeBoard().After(3).After(3), "action 3 on");
}

}  // namespace
}  // namespace lzero::tictactoe_test
