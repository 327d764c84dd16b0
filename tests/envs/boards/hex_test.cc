#include <gtest/gtest.h>

#include <functional>

#include "envs/boards/players/opponents.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/perft.h"
#include "tests/envs/boards/start_board.h"

namespace lzero::hex_test {
namespace {

EnvSettingTexts Rules(int size, bool swap) {
  return {{"board_size", std::to_string(size)}, {"swap", swap ? "yes" : "no"}};
}

absl::StatusOr<std::unique_ptr<Env>> Make(int size, bool swap = false, double fraction = 0.0) {
  EnvOptions options;
  options.random_opening_fraction = fraction;
  options.settings = Rules(size, swap);
  return HexEntry().factory(options);
}

std::unique_ptr<Board> After(int size, const std::vector<int>& actions, bool swap = false) {
  std::unique_ptr<Board> board = StartBoard(HexEntry(), Rules(size, swap));
  for (const int action : actions) board->Play(action);
  return board;
}

// Rules written a second time: a flood over a plain map after every move.
struct PlainHex {
  int size;
  std::string cells = std::string(size * size, '.');  // 'X', 'O', '.'

  bool Reaches(char stone, int row, int column, std::string& seen) const {
    if (row < 0 || column < 0 || row >= size || column >= size) return false;
    char& here = seen[row * size + column];
    if (here != stone) return false;
    if ((stone == 'X' ? row : column) == size - 1) return true;
    here = '#';
    for (const auto& [down, right] :
         {std::pair{1, 0}, {1, -1}, {0, 1}, {0, -1}, {-1, 0}, {-1, 1}}) {
      if (Reaches(stone, row + down, column + right, seen)) return true;
    }
    return false;
  }
  bool HasWon(char stone) const {
    std::string seen = cells;
    for (int i = 0; i < size; ++i) {
      if (stone == 'X' ? Reaches(stone, 0, i, seen) : Reaches(stone, i, 0, seen)) return true;
    }
    return false;
  }
  void Count(char mover, size_t ply, std::vector<int64_t>& counts) {
    for (char& cell : cells) {
      if (cell != '.') continue;
      ++counts[ply];
      cell = mover;
      const bool goes_on = ply + 1 < counts.size() && !HasWon(mover);
      if (goes_on) Count(mover == 'X' ? 'O' : 'X', ply + 1, counts);
      cell = '.';
    }
  }
};

std::vector<int64_t> PlainPerft(int size, int depth) {
  std::vector<int64_t> counts(depth);
  PlainHex{size}.Count('X', 0, counts);
  return counts;
}

TEST(HexTest, TheSizeIsASetting) {
  const auto env = *HexEntry().factory({});
  EXPECT_EQ(env->spec().observation.shape, (std::vector<int64_t>{3, 11, 11}));
  EXPECT_EQ(env->spec().action.num_actions, 121);
  EXPECT_EQ((*Make(3))->spec().action.num_actions, 9);
  EXPECT_EQ(Make(12).status().message(),
            "board_size of 'hex': out of range; got '12'; allowed: an integer from 3 to 11");
  EXPECT_FALSE(Make(2).ok());
  EXPECT_TRUE(HexEntry().factory({121}).ok());  // a cap that no game reaches
  EXPECT_FALSE(HexEntry().factory({120}).ok());
}

TEST(HexTest, ConnectedSidesWin) {
  // . . X   X goes down by (0,2) (1,1) (2,0), each a neighbour of the one before.
  //  . X O
  //   X O .
  const auto board = After(3, {2, 5, 4, 7});
  EXPECT_EQ(board->winner(), -1);
  EXPECT_EQ(board->ToText(), ". . X\n . X O\n  . O .\nX to move\n");
  board->Play(6);
  EXPECT_TRUE(board->finished());
  EXPECT_EQ(board->winner(), 0);
  EXPECT_EQ(board->ToText(), ". . X\n . X O\n  X O .\nover: X wins\n");
  EXPECT_FALSE(board->legal(0));
  // (0,0) (1,1) (2,2) are no neighbours.
  EXPECT_FALSE(After(3, {0, 1, 4, 2, 8})->finished());
  // O connects the sides, X would have to go down.
  EXPECT_EQ(After(3, {0, 3, 1, 4, 2, 5})->winner(), 1);
  EXPECT_FALSE(After(3, {3, 0, 4, 1, 5})->finished());
}

// 3 x 3 to the end of every game, and more where nobody can have won yet.
TEST(HexTest, MoveSequencesAreThoseOfASecondRuleBook) {
  EXPECT_EQ(*Perft(**Make(3), 9), PlainPerft(3, 9));
  EXPECT_EQ(PlainPerft(3, 5), (std::vector<int64_t>{9, 72, 504, 3024, 15120}));
  EXPECT_EQ(*Perft(**Make(4), 5), PlainPerft(4, 5));
}

TEST(HexTest, RandomGamesEndAsTheSecondRuleBookSays) {
  RandomStream random(1, "hex test");
  for (int game = 0; game < 60; ++game) {
    const int size = 3 + game % 9;
    const auto board = After(size, {});
    PlainHex plain{size};
    std::vector<int> free(size * size);
    for (int i = 0; i < size * size; ++i) free[i] = i;
    while (!board->finished()) {
      ASSERT_FALSE(free.empty()) << board->ToText();  // never a draw
      std::swap(free[random.UniformInt(static_cast<int64_t>(free.size()))], free.back());
      const int mover = board->to_play();
      board->Play(free.back());
      plain.cells[free.back()] = "XO"[mover];
      free.pop_back();
      ASSERT_EQ(board->winner(), plain.HasWon("XO"[mover]) ? mover : -1) << board->ToText();
      ASSERT_LT(std::abs(board->Estimate()), 1.0);
    }
  }
}

// Whoever begins wins; where the other may take the first stone, he does.
TEST(HexTest, TheSwapTurnsTheResultOfPerfectPlay) {
  const std::function<int(const Board&)> best = [&best](const Board& board) {
    if (board.finished()) return board.winner();
    const int mover = board.to_play();
    for (int action = 0; action < board.num_actions(); ++action) {
      if (!board.legal(action)) continue;
      const std::unique_ptr<Board> next = board.Clone();
      next->Play(action);
      if (best(*next) == mover) return mover;
    }
    return 1 - mover;
  };
  EXPECT_EQ(best(*After(3, {})), 0);
  EXPECT_EQ(best(*After(3, {}, /*swap=*/true)), 1);
}

TEST(HexTest, TheSwapMirrorsTheFirstStone) {
  const auto board = After(3, {1}, /*swap=*/true);
  for (int action = 0; action < 9; ++action) EXPECT_TRUE(board->legal(action)) << action;
  board->Play(1);
  EXPECT_EQ(board->ToText(), ". . .\n O . .\n  . . .\nX to move\n");
  EXPECT_FALSE(board->legal(3));
  EXPECT_TRUE(board->legal(1));
  for (const int action : {1, 4, 0}) board->Play(action);
  EXPECT_EQ(board->ToText(), "X X .\n O O .\n  . . .\nO to move\n");
  board->Play(5);
  EXPECT_EQ(board->winner(), 1);
  // Other answers are stones, and nobody swaps later.
  EXPECT_EQ(After(3, {1, 0}, true)->ToText(), "O X .\n . . .\n  . . .\nX to move\n");
  EXPECT_FALSE(After(3, {1, 0}, true)->legal(0));
  EXPECT_FALSE(After(3, {1})->legal(1));
}

TEST(HexTest, ObservationIsFromTheMoversView) {
  const auto env = *Make(3);
  TimeStep step = env->Reset(0);
  std::vector<float> expected(27, 0.0f);
  std::fill(expected.begin() + 18, expected.end(), 1.0f);  // connects top and bottom
  EXPECT_EQ(step.observation, expected);
  step = *env->Step(Action::Discrete(1));
  expected.assign(27, 0.0f);
  expected[9 + 1] = 1.0f;
  EXPECT_EQ(step.observation, expected);
}

// A game and its image under the half turn go the same way.
TEST(HexTest, TheHalfTurnChangesNothing) {
  for (const bool swap : {false, true}) {
    const auto env = *Make(5, swap), turned = *Make(5, swap);
    const std::vector<Symmetry>& symmetries = env->spec().symmetries;
    ASSERT_EQ(symmetries.size(), 2u);
    RandomStream random(3, "hex test");
    TimeStep step = env->Reset(0), image = turned->Reset(0);
    for (int ply = 0; !step.ended(); ++ply) {
      std::vector<float> expected(75);
      MapObservation(symmetries[1], step.observation, absl::MakeSpan(expected));
      ASSERT_EQ(image.observation, expected);
      int32_t action = swap && ply == 1 ? 3 : static_cast<int32_t>(random.UniformInt(25));
      if (ply == 0) action = 3;
      if (step.legal_action_mask[action] == 0) continue;
      step = *env->Step(Action::Discrete(action));
      image = *turned->Step(Action::Discrete(24 - action));
      ASSERT_EQ(step.terminated, image.terminated);
      ASSERT_EQ(step.reward, image.reward);
    }
  }
}

TEST(HexTest, SavedPositionsComeBack) {
  RandomStream random(2, "hex test");
  for (const bool swap : {false, true}) {
    const auto board = After(6, {7, 7 * (swap ? 1 : 2)}, swap);
    while (!board->finished()) {
      const int action = static_cast<int>(random.UniformInt(36));
      if (board->legal(action)) board->Play(action);
      StateWriter writer("test");
      board->Save(writer);
      const std::string bytes = writer.Take();
      StateReader reader("test", bytes);
      const auto copy = After(6, {3}, swap);
      ASSERT_TRUE(copy->Load(reader).ok());
      EXPECT_EQ(copy->ToText(), board->ToText());
      EXPECT_EQ(copy->Estimate(), board->Estimate());
      EXPECT_EQ(copy->ToImage().pixels, board->ToImage().pixels);
    }
  }
}

TEST(HexTest, ImpossiblePositionsAreRefused) {
  const auto board = After(3, {4});
  const auto error = [&](int size, bool swap, const std::vector<uint8_t>& moves) {
    StateWriter writer("test");
    writer.Write(static_cast<uint8_t>(size));
    writer.Write(swap);
    writer.WriteVector(moves);
    const std::string bytes = writer.Take();
    StateReader reader("test", bytes);
    return std::string(board->Load(reader).message());
  };
  const std::string start = "saved state of 'test' is impossible: ";
  EXPECT_EQ(error(4, false, {}), start + "a game on 4 x 4 without the swap, other rules than here");
  EXPECT_EQ(error(3, true, {}), start + "a game on 3 x 3 with the swap, other rules than here");
  EXPECT_EQ(error(3, false, {1, 1}), start + "move 1 as number 2 is illegal");
  EXPECT_EQ(error(3, false, {9}), start + "move 9 as number 1 is illegal");
  EXPECT_EQ(error(3, false, {2, 0, 4, 1, 6, 8}), start + "move 8 as number 6 is illegal");
  EXPECT_EQ(board->ToText(), After(3, {4})->ToText());
  EXPECT_EQ(error(3, false, {2, 0, 4, 1, 6}), "");
  EXPECT_EQ(board->winner(), 0);
}

// Lacking stones when bridges hold: on 3 x 3 the middle has both sides by a bridge each. With X
// there O lacks (0,1), which a bridge joins to the left, and (0,2), which X lacks once O has (0,1).
TEST(HexTest, EstimatesCountLackingStones) {
  EXPECT_DOUBLE_EQ(After(3, {})->Estimate(), 0.5 / 1.5);      // 1 and 1
  EXPECT_DOUBLE_EQ(After(3, {4})->Estimate(), -1.5 / 2.5);    // 2 and 0
  EXPECT_DOUBLE_EQ(After(3, {4, 1})->Estimate(), 0.5 / 1.5);  // 1 and 1
  EXPECT_DOUBLE_EQ(After(4, {})->Estimate(), 0.5 / 1.5);      // 2 and 2
}

TEST(HexTest, SmallBoardsConformWithSwapAndOpenings) {
  for (const bool swap : {false, true}) {
    const auto make = [swap] { return Make(4, swap, 0.5); };
    for (const ConformanceCheck& check : RunConformance(make, {1, 300})) {
      EXPECT_TRUE(check.passed) << check.name << ": " << check.detail;
    }
  }
}

TEST(HexTest, LookingAheadBeatsChance) {
  const auto env = *Make(6);
  ThreadPool pool(1);
  const auto player = *MakeOpponentSide("alpha_beta:1", 1, &pool);
  const auto random = *MakeOpponentSide("random", 2, &pool);
  MatchPlan plan;
  plan.num_games = 40;
  EXPECT_EQ(PlayMatch(dynamic_cast<BoardEnv&>(*env), *player, *random, plan)->total().wins, 40);
}

TEST(HexTest, DrawsItselfWithTheLastStoneMarked) {
  const auto board = After(5, {0, 1, 2});
  const Image image = board->ToImage();
  EXPECT_LT(image.width, 400);
  // Cells are 44 pixels wide, rows 38.1 high; the first middle is at (44, 38.1).
  const auto at = [&](int column, int right) { return image.at(44 + 44 * column + right, 38); };
  EXPECT_EQ(at(0, 0), at(0, 8));  // black, no mark
  EXPECT_NE(at(1, 0), at(0, 0));  // white
  EXPECT_NE(at(2, 5), at(0, 5));  // marked
  EXPECT_EQ(at(3, 0), (Color{222, 184, 116}));
}

TEST(HexDeathTest, AnIllegalMoveIsOurBug) { EXPECT_DEATH(After(5, {3, 3}), "action 3 on"); }

}  // namespace
}  // namespace lzero::hex_test
