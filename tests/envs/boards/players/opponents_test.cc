#include "envs/boards/players/opponents.h"

#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "envs/boards/connect4.h"
#include "envs/boards/players/alpha_beta.h"
#include "envs/boards/players/uct.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero::opponents_test {
namespace {

std::string Error(const std::string& name) {
  return std::string(MakeOpponent(name, 0).status().message());
}

TEST(OpponentsTest, NamesMakePlayers) {
  EXPECT_TRUE(MakeOpponent("random", 0).ok());
  EXPECT_NE(dynamic_cast<AlphaBetaPlayer*>(MakeOpponent("alpha_beta:4", 0)->get()), nullptr);
  EXPECT_NE(dynamic_cast<UctPlayer*>(MakeOpponent("mcts:100", 0)->get()), nullptr);
}

TEST(OpponentsTest, TheNumberIsTheStrength) {
  // Three plies see the win from a heap of 4, two do not.
  const auto shallow = *MakeOpponent("alpha_beta:2", 0);
  const auto deep = *MakeOpponent("alpha_beta:3", 0);
  int num_shallow_right = 0;
  for (int i = 0; i < 40; ++i) {
    EXPECT_EQ(deep->ChooseAction(NimBoard(4)), 0);
    if (shallow->ChooseAction(NimBoard(7)) == 0) ++num_shallow_right;
  }
  EXPECT_LT(num_shallow_right, 40);
  const auto mcts = *MakeOpponent("mcts:30", 0);
  mcts->ChooseAction(NimBoard(4));
  int64_t visits = 0;
  for (const auto& stats : dynamic_cast<UctPlayer&>(*mcts).stats()) visits += stats.num_visits;
  EXPECT_EQ(visits, 30);
}

TEST(OpponentsTest, UnusableNamesAreRefused) {
  const std::string known = " (known: random, alpha_beta:PLIES, mcts:SIMULATIONS)";
  EXPECT_EQ(Error("alphabeta:4"), "no player 'alphabeta:4'; did you mean 'alpha_beta'?" + known);
  EXPECT_EQ(Error("randon"), "no player 'randon'; did you mean 'random'?" + known);
  EXPECT_EQ(Error("stockfish"), "no player 'stockfish'" + known);
  EXPECT_EQ(Error(""), "no player ''" + known);
  EXPECT_EQ(Error("random:3"), "player 'random:3': random takes nothing after it");
  const auto alpha_beta = [](const std::string& name) {
    return "player '" + name +
           "': alpha_beta takes the plies of its look-ahead, 1 .. 64, after a colon, as in "
           "alpha_beta:4";
  };
  for (const char* name :
       {"alpha_beta", "alpha_beta:", "alpha_beta:0", "alpha_beta:65", "alpha_beta:-1",
        "alpha_beta:+4", "alpha_beta: 4", "alpha_beta:4x", "alpha_beta:99999999999999999999"}) {
    EXPECT_EQ(Error(name), alpha_beta(name));
  }
  EXPECT_EQ(Error("mcts:1e3"),
            "player 'mcts:1e3': mcts takes the simulations a move, 1 .. 10000000, after a colon, "
            "as in mcts:4");
}

TEST(OpponentsTest, TheRandomPlayerIsUniformOverLegalActions) {
  Connect4Board board;
  for (int i = 0; i < 6; ++i) board.Play(3);
  const auto player = *MakeOpponent("random", 5);
  std::map<int, int> counts;
  for (int i = 0; i < 1200; ++i) ++counts[player->ChooseAction(board)];
  EXPECT_EQ(counts.size(), 6u);
  EXPECT_EQ(counts.count(3), 0u);
  // 200 expected of each, standard deviation 12.9.
  for (const auto& [action, count] : counts) EXPECT_NEAR(count, 200, 60) << action;
}

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
  const auto side =
      MakePlayerSide([](int64_t game) { return std::make_unique<Scripted>(game); }, &pool);
  const NimBoard board(9);
  side->BeginGame(3, 1, board);
  side->BeginGame(0, 2, board);
  EXPECT_EQ(*side->ChooseActions({{3, &board}, {0, &board}}), (std::vector<int>{1, 0}));
  side->BeginGame(3, 4, board);
  EXPECT_EQ(*side->ChooseActions({{3, &board}}), std::vector<int>{0});
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
  const auto side = MakePlayerSide([](int64_t game) { return std::make_unique<Scripted>(game); },
                                   &pool, [&] { return ++num_asked > 2; });
  const NimBoard board(9);
  std::vector<MatchTurn> turns;
  for (int table = 0; table < 5; ++table) {
    side->BeginGame(table, table, board);
    turns.push_back({table, &board});
  }
  EXPECT_EQ(side->ChooseActions(turns).status().code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(num_asked, 3);
}

TEST(OpponentSideTest, UnknownPlayersAreNamed) {
  ThreadPool pool(1);
  EXPECT_EQ(MakeOpponentSide("alpha-beta:2", 0, &pool).status().message(),
            "no player 'alpha-beta:2'; did you mean 'alpha_beta'? (known: random, "
            "alpha_beta:PLIES, mcts:SIMULATIONS)");
}

}  // namespace
}  // namespace lzero::opponents_test
