#include "envs/boards/players/opponent_side.h"

#include <gtest/gtest.h>

#include <atomic>

#include "envs/boards/connect4.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero::opponent_side_test {
namespace {

// Takes as many as the number of its game says.
class Scripted : public Player {
 public:
  explicit Scripted(int64_t game) : game_(game) {}
  int ChooseAction(const Board& /*board*/) override { return static_cast<int>(game_ % 2); }

 private:
  int64_t game_;
};

TEST(OpponentSideTest, EveryGameHasAPlayerOfItsOwn) {
  ThreadPool pool(2);
  OpponentSide side([](int64_t game) { return std::make_unique<Scripted>(game); }, &pool);
  const NimBoard board(9);
  side.BeginGame(3, 1, board);
  side.BeginGame(0, 2, board);
  EXPECT_EQ(*side.ChooseActions({{3, &board}, {0, &board}}), (std::vector<int>{1, 0}));
  side.BeginGame(3, 4, board);
  EXPECT_EQ(*side.ChooseActions({{3, &board}}), std::vector<int>{0});
}

// Ten games of random moves: the same whatever the number of threads and of turns in a call.
TEST(OpponentSideTest, MovesDependOnSeedAndGameAlone) {
  const auto play = [](int num_threads, bool abreast, uint64_t seed) {
    ThreadPool pool(num_threads);
    const auto side = MakeOpponentSide("random", seed, &pool);
    EXPECT_TRUE(side.ok());
    const Connect4Board board;
    std::vector<MatchTurn> turns;
    for (int table = 0; table < 10; ++table) {
      (*side)->BeginGame(table, 100 + table, board);
      turns.push_back({table, &board});
    }
    if (abreast) return *(*side)->ChooseActions(turns);
    std::vector<int> actions;
    for (int i = 9; i >= 0; --i) {
      actions.insert(actions.begin(), (*side)->ChooseActions({turns[i]})->at(0));
    }
    return actions;
  };
  EXPECT_EQ(play(1, true, 5), play(3, true, 5));
  EXPECT_EQ(play(1, true, 5), play(1, false, 5));
  EXPECT_NE(play(1, true, 5), play(1, true, 6));
  const std::vector<int> actions = play(1, true, 5);
  EXPECT_NE(actions, std::vector<int>(10, actions[0]));
}

TEST(OpponentSideTest, StopEndsATurn) {
  ThreadPool pool(1);
  std::atomic<int> num_asked{0};
  OpponentSide side([](int64_t game) { return std::make_unique<Scripted>(game); }, &pool,
                    [&] { return ++num_asked > 2; });
  const NimBoard board(9);
  std::vector<MatchTurn> turns;
  for (int table = 0; table < 5; ++table) {
    side.BeginGame(table, table, board);
    turns.push_back({table, &board});
  }
  EXPECT_EQ(side.ChooseActions(turns).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(num_asked, 3);
}

TEST(OpponentSideTest, UnknownPlayersAreNamed) {
  ThreadPool pool(1);
  EXPECT_EQ(MakeOpponentSide("alpha-beta:2", 0, &pool).status().message(),
            "no player 'alpha-beta:2'; did you mean 'alpha_beta'? (known: random, "
            "alpha_beta:PLIES, mcts:SIMULATIONS)");
}

}  // namespace
}  // namespace lzero::opponent_side_test
