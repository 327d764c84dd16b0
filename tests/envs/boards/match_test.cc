#include "envs/boards/match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "envs/boards/alpha_beta.h"
#include "envs/boards/opponents.h"
#include "envs/boards/tictactoe.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero {
namespace {

std::unique_ptr<Env> MakeNim(int heap, double opening_fraction = 0.0) {
  EnvSpec spec;
  spec.id = "nim";
  spec.observation.shape = {2, 1, 1};
  return *MakeBoardEnv(spec, {0, opening_fraction, 5}, std::make_unique<NimBoard>(heap), heap);
}

BoardEnv& BoardEnvOf(Env& env) { return dynamic_cast<BoardEnv&>(env); }

// Always takes one; writes down what it saw.
class OneByOne : public Player {
 public:
  int ChooseAction(const Board& board) override {
    seen.push_back(board.ToText());
    return 0;
  }
  std::vector<std::string> seen;
};

TEST(MatchTest, ColorsAlternate) {
  const auto env = MakeNim(3);
  OneByOne first, second;
  const MatchResult result = PlayMatch(BoardEnvOf(*env), first, second, 3, 0);
  EXPECT_EQ(first.seen,
            (std::vector<std::string>{"heap 3, player 0 takes\n", "heap 1, player 0 takes\n",
                                      "heap 2, player 1 takes\n", "heap 3, player 0 takes\n",
                                      "heap 1, player 0 takes\n"}));
  EXPECT_EQ(second.seen,
            (std::vector<std::string>{"heap 2, player 1 takes\n", "heap 3, player 0 takes\n",
                                      "heap 1, player 0 takes\n", "heap 2, player 1 takes\n"}));
  // Taking the last of three wins: player 0 always does.
  EXPECT_EQ(result.by_color[0].wins, 2);
  EXPECT_EQ(result.by_color[0].num_games(), 2);
  EXPECT_EQ(result.by_color[1].losses, 1);
  EXPECT_EQ(result.by_color[1].num_games(), 1);
  EXPECT_EQ(result.num_plies, 9);
  EXPECT_EQ(result.total().wins, 2);
  EXPECT_EQ(result.total().losses, 1);
}

TEST(MatchTest, PointsCountDrawsByHalf) {
  EXPECT_EQ((MatchScore{1, 2, 1}).points_fraction(), 0.5);
  EXPECT_EQ((MatchScore{3, 0, 1}).points_fraction(), 0.75);
  EXPECT_EQ(MatchScore().points_fraction(), 0.0);
}

TEST(MatchTest, PerfectPlayersDrawTicTacToe) {
  const auto env = *TicTacToeBoard::CreateEnv({});
  AlphaBetaPlayer first(9, 1), second(9, 2);
  const MatchScore score = PlayMatch(BoardEnvOf(*env), first, second, 4, 0).total();
  EXPECT_EQ(score.draws, 4);
  EXPECT_EQ(score.points_fraction(), 0.5);
}

// Both games of a pair begin in the same position, pairs in others.
TEST(MatchTest, OpeningsAreSharedByAPair) {
  const auto env = MakeNim(40, 1.0);
  const auto heap_of = [](const std::string& text) { return std::stoi(text.substr(5)); };
  OneByOne alone;  // sees every position
  PlayMatch(BoardEnvOf(*env), alone, alone, 12, 7);
  std::vector<std::string> starts;
  int last_heap = 0;
  for (const std::string& text : alone.seen) {
    if (heap_of(text) > last_heap) starts.push_back(text);
    last_heap = heap_of(text);
  }
  ASSERT_EQ(starts.size(), 12u);
  int num_different = 0;
  for (int pair = 0; pair < 6; ++pair) {
    EXPECT_EQ(starts[2 * pair], starts[2 * pair + 1]);
    EXPECT_NE(starts[2 * pair], "heap 40, player 0 takes\n");
    if (pair > 0 && starts[2 * pair] != starts[2 * pair - 1]) ++num_different;
  }
  EXPECT_GT(num_different, 2);
}

TEST(MatchTest, TheSeedDecides) {
  const auto env = *TicTacToeBoard::CreateEnv({0, 0.5, 4});
  const auto play = [&](uint64_t seed) {
    RandomPlayer first(seed), second(seed + 1000);
    const MatchResult result = PlayMatch(BoardEnvOf(*env), first, second, 50, seed);
    return std::vector<int64_t>{result.total().wins, result.total().draws, result.num_plies};
  };
  EXPECT_EQ(play(1), play(1));
  EXPECT_NE(play(1), play(2));
}

TEST(MatchDeathTest, NoGamesAreOurBug) {
  const auto env = MakeNim(3);
  OneByOne player;
  EXPECT_DEATH(PlayMatch(BoardEnvOf(*env), player, player, 0, 0), "a match of 0 games");
}

}  // namespace
}  // namespace lzero
