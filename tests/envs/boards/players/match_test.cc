#include "envs/boards/players/match.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "envs/boards/players/alpha_beta.h"
#include "envs/boards/players/opponents.h"
#include "envs/boards/tictactoe.h"
#include "envs/entries.h"
#include "tests/envs/boards/nim_board.h"

namespace lzero::match_test {
namespace {

std::unique_ptr<BoardEnv> BoardEnvOf(absl::StatusOr<std::unique_ptr<Env>> env) {
  return std::unique_ptr<BoardEnv>(dynamic_cast<BoardEnv*>(env->release()));
}

std::unique_ptr<BoardEnv> MakeNim(int heap, double opening_fraction = 0.0) {
  EnvSpec spec;
  spec.id = "nim";
  spec.observation.shape = {2, 1, 1};
  return BoardEnvOf(
      MakeBoardEnv(spec, {0, opening_fraction, 5}, std::make_unique<NimBoard>(heap), heap));
}

// Always takes one; writes down what it is told and asked.
class OneByOne : public MatchSide {
 public:
  void BeginGame(int table, int64_t game, const Board& start) override {
    told.push_back(absl::StrCat("table ", table, " game ", game, " ", start.ToText()));
  }
  void OnMove(int table, int action, const Board& board) override {
    told.push_back(absl::StrCat("table ", table, " move ", action, " ", board.ToText()));
  }
  absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override {
    num_turns.push_back(static_cast<int>(turns.size()));
    if (static_cast<int>(num_turns.size()) > calls_before_failure) return failure;
    for (const MatchTurn& turn : turns) asked.push_back(turn.board->ToText());
    return std::vector<int>(turns.size(), 0);
  }

  std::vector<std::string> told;
  std::vector<std::string> asked;
  std::vector<int> num_turns;  // of each call
  int calls_before_failure = 1 << 20;
  absl::Status failure = absl::UnavailableError("no move today");
};

MatchPlan PlanOf(int64_t num_games, uint64_t seed = 0, int64_t opening_plies = 0,
                 int num_tables = 64) {
  return {num_games, seed, opening_plies, num_tables};
}

TEST(MatchTest, ColorsAlternate) {
  const auto env = MakeNim(3);
  OneByOne first, second;
  const auto result = PlayMatch(*env, first, second, PlanOf(3, 0, 0, 1));
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(first.asked,
            (std::vector<std::string>{"heap 3, player 0 takes\n", "heap 1, player 0 takes\n",
                                      "heap 2, player 1 takes\n", "heap 3, player 0 takes\n",
                                      "heap 1, player 0 takes\n"}));
  EXPECT_EQ(second.asked,
            (std::vector<std::string>{"heap 2, player 1 takes\n", "heap 3, player 0 takes\n",
                                      "heap 1, player 0 takes\n", "heap 2, player 1 takes\n"}));
  // Taking the last of three wins: player 0 always does.
  EXPECT_EQ(result->by_color[0].wins, 2);
  EXPECT_EQ(result->by_color[0].num_games(), 2);
  EXPECT_EQ(result->by_color[1].losses, 1);
  EXPECT_EQ(result->by_color[1].num_games(), 1);
  EXPECT_EQ(result->num_plies, 9);
  EXPECT_EQ(result->total().wins, 2);
  EXPECT_EQ(result->total().losses, 1);
  EXPECT_EQ(result->pairs, (PairCounts{0, 0, 1, 0, 0}));  // the third game has no partner
  EXPECT_EQ(result->num_openings, 1);
  EXPECT_EQ(result->num_different_games, 2);  // the third repeats the first
  EXPECT_FALSE(result->is_stopped);
}

TEST(MatchTest, BothSidesSeeEveryMove) {
  const auto env = MakeNim(2);
  OneByOne first, second;
  ASSERT_TRUE(PlayMatch(*env, first, second, PlanOf(2, 0, 0, 1)).ok());
  const std::vector<std::string> expected = {
      "table 0 game 0 heap 2, player 0 takes\n", "table 0 move 0 heap 1, player 1 takes\n",
      "table 0 move 0 heap 0, player 0 takes\n", "table 0 game 1 heap 2, player 0 takes\n",
      "table 0 move 0 heap 1, player 1 takes\n", "table 0 move 0 heap 0, player 0 takes\n"};
  EXPECT_EQ(first.told, expected);
  EXPECT_EQ(second.told, expected);
}

// Ten games at four tables: nobody is asked about more than four, and the result is that of one.
TEST(MatchTest, GamesAreAskedAbreast) {
  const auto env = MakeNim(7);
  OneByOne first, second;
  const auto abreast = PlayMatch(*env, first, second, PlanOf(10, 0, 0, 4));
  ASSERT_TRUE(abreast.ok());
  EXPECT_EQ(*std::max_element(first.num_turns.begin(), first.num_turns.end()), 4);
  EXPECT_LT(first.num_turns.size(), 7u * 10u / 2u);
  OneByOne third, fourth;
  const auto alone = PlayMatch(*env, third, fourth, PlanOf(10, 0, 0, 1));
  ASSERT_TRUE(alone.ok());
  EXPECT_EQ(abreast->by_color[0].wins, alone->by_color[0].wins);
  EXPECT_EQ(abreast->by_color[1].losses, alone->by_color[1].losses);
  EXPECT_EQ(abreast->num_plies, 70);
  EXPECT_EQ(abreast->num_different_games, 2);  // one for each color
  EXPECT_EQ(abreast->pairs, alone->pairs);
}

TEST(MatchTest, PointsCountDrawsByHalf) {
  EXPECT_EQ((MatchScore{1, 2, 1}).points_fraction(), 0.5);
  EXPECT_EQ((MatchScore{3, 0, 1}).points_fraction(), 0.75);
  EXPECT_EQ(MatchScore().points_fraction(), 0.0);
}

MatchResult PlayTicTacToe(const std::string& a, const std::string& b, const MatchPlan& plan,
                          double opening_fraction = 0.0) {
  const auto env = BoardEnvOf(TicTacToeEntry().factory({0, opening_fraction, 4}));
  ThreadPool pool(1);
  const auto first = MakeOpponentSide(a, plan.seed + 1, &pool);
  const auto second = MakeOpponentSide(b, plan.seed + 2, &pool);
  return *PlayMatch(*env, **first, **second, plan);
}

TEST(MatchTest, PerfectPlayersDrawTicTacToe) {
  const MatchResult result = PlayTicTacToe("alpha_beta:9", "alpha_beta:9", PlanOf(4));
  EXPECT_EQ(result.total().draws, 4);
  EXPECT_EQ(result.total().points_fraction(), 0.5);
  EXPECT_EQ(result.pairs, (PairCounts{0, 0, 2, 0, 0}));
}

// Whoever an opening favours: a perfect player has it once, and makes half of the points of a pair.
TEST(MatchTest, PairsAreCountedByTheirPoints) {
  const MatchResult result = PlayTicTacToe("alpha_beta:9", "random", PlanOf(60, 5, 2));
  EXPECT_EQ(result.pairs[0] + result.pairs[1] + result.pairs[2] + result.pairs[3] + result.pairs[4],
            30);
  EXPECT_EQ(result.pairs[0] + result.pairs[1], 0);
  EXPECT_GT(result.pairs[4], 10);
  int64_t half_points = 0;
  for (int i = 0; i < 5; ++i) half_points += i * result.pairs[i];
  EXPECT_EQ(half_points, 2 * result.total().wins + result.total().draws);
}

// What the games of a side that takes one by one begin with: the lines told at each game's start
// and the moves that nobody was asked for.
std::vector<std::string> StartsOf(const OneByOne& side, size_t opening_plies) {
  std::vector<std::string> starts;
  for (size_t i = 0; i < side.told.size(); ++i) {
    if (side.told[i].find(" game ") == std::string::npos) continue;
    std::string start;
    for (size_t line = 0; line <= opening_plies; ++line) {
      const std::string& text = side.told[i + line];
      start += text.substr(text.find("heap")) +
               (line == 0 ? "" : text.substr(text.find("move "), 6)) + ";";
    }
    starts.push_back(start);
  }
  return starts;
}

// Both games of a pair begin alike, pairs in positions of their own.
TEST(MatchTest, OpeningsAreSharedByAPair) {
  const auto env = MakeNim(40);
  OneByOne alone;  // plays both sides
  const auto result = PlayMatch(*env, alone, alone, PlanOf(8, 7, 3, 1));
  ASSERT_TRUE(result.ok());
  // Everything is told twice.
  std::vector<std::string> starts;
  OneByOne once;
  for (size_t i = 0; i < alone.told.size(); i += 2) {
    ASSERT_EQ(alone.told[i], alone.told[i + 1]);
    once.told.push_back(alone.told[i]);
  }
  starts = StartsOf(once, 3);
  ASSERT_EQ(starts.size(), 8u);
  std::set<std::string> different;
  for (int pair = 0; pair < 4; ++pair) {
    EXPECT_EQ(starts[2 * pair], starts[2 * pair + 1]);
    // Three plies take 3, 4, 5 or 6: four positions, each begun in once.
    different.insert(starts[2 * pair]);
  }
  EXPECT_EQ(different.size(), 4u);
  EXPECT_EQ(result->num_openings, 4);
  // There is no fifth.
  OneByOne more, other;
  EXPECT_EQ(PlayMatch(*env, more, other, PlanOf(40, 7, 3))->num_openings, 4);
}

// The environment's own openings come first.
TEST(MatchTest, TheEnvironmentMayBringOpenings) {
  const auto env = MakeNim(40, 1.0);
  OneByOne first, second;
  const auto result = PlayMatch(*env, first, second, PlanOf(12, 7, 0, 1));
  ASSERT_TRUE(result.ok());
  const std::vector<std::string> starts = StartsOf(first, 0);
  ASSERT_EQ(starts.size(), 12u);
  for (int pair = 0; pair < 6; ++pair) {
    EXPECT_EQ(starts[2 * pair], starts[2 * pair + 1]);
    EXPECT_NE(starts[2 * pair], "heap 40, player 0 takes\n;");
  }
  EXPECT_EQ(result->num_openings, 6);
}

TEST(MatchTest, TheSeedDecides) {
  const auto play = [&](uint64_t seed, int64_t opening_plies, double fraction) {
    const MatchResult result =
        PlayTicTacToe("random", "random", PlanOf(50, seed, opening_plies), fraction);
    EXPECT_GT(result.num_different_games, 40);  // of random players
    EXPECT_LE(result.num_different_games, 50);
    return std::vector<int64_t>{result.total().wins, result.total().draws, result.num_plies};
  };
  EXPECT_EQ(play(1, 2, 0.5), play(1, 2, 0.5));
  EXPECT_NE(play(1, 2, 0.5), play(2, 2, 0.5));
}

TEST(MatchTest, WatchSeesTheScoreAndMayStop) {
  const auto env = MakeNim(7);
  OneByOne first, second;
  int64_t most_seen = 0;
  const auto stopped =
      PlayMatch(*env, first, second, PlanOf(100, 0, 0, 2), [&](const MatchResult& so_far) {
        most_seen = so_far.total().num_games();
        return most_seen >= 6;
      });
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->is_stopped);
  EXPECT_EQ(stopped->total().num_games(), most_seen);
  EXPECT_EQ(stopped->num_plies, 7 * most_seen) << "of games that ended";
  EXPECT_LT(most_seen, 9);
}

TEST(MatchTest, ACancelledSideStopsTheMatchAndAnErrorEndsIt) {
  const auto env = MakeNim(3);
  OneByOne first, second;
  second.calls_before_failure = 3;
  const auto failed = PlayMatch(*env, first, second, PlanOf(9, 0, 0, 1));
  EXPECT_EQ(failed.status(), absl::UnavailableError("no move today"));
  OneByOne third, fourth;
  fourth.calls_before_failure = 3;  // in game 0 one, in game 1 two: the third game is begun
  fourth.failure = absl::CancelledError("stop");
  const auto stopped = PlayMatch(*env, third, fourth, PlanOf(9, 0, 0, 1));
  ASSERT_TRUE(stopped.ok());
  EXPECT_TRUE(stopped->is_stopped);
  EXPECT_EQ(stopped->total().num_games(), 2);
}

TEST(MatchTest, OnlyBoardGamesCanBePlayed) {
  EnvRegistry registry;
  registry.Register(
      {"nim", "a heap", [](const EnvOptions&) -> absl::StatusOr<std::unique_ptr<Env>> {
         return std::unique_ptr<Env>(MakeNim(5));
       }});
  EXPECT_EQ((*MakeMatchEnv(registry, "nim", {}))->spec().id, "nim");
  EXPECT_EQ(MakeMatchEnv(registry, "nimm", {}).status().code(), absl::StatusCode::kNotFound);
}

TEST(MatchDeathTest, NoGamesAndIllegalMovesAreOurBug) {
  const auto env = MakeNim(3);
  OneByOne side;
  EXPECT_DEATH(PlayMatch(*env, side, side, PlanOf(0)).IgnoreError(), "a match of 0 games");
  EXPECT_DEATH(PlayMatch(*env, side, side, PlanOf(1, 0, 0, 0)).IgnoreError(), "on 0 tables");
  class Cheat : public OneByOne {
    absl::StatusOr<std::vector<int>> ChooseActions(absl::Span<const MatchTurn> turns) override {
      return std::vector<int>(turns.size(), 2);
    }
  } cheat;
  EXPECT_DEATH(PlayMatch(*env, cheat, side, PlanOf(1)).IgnoreError(), "action 2 on\nheap 3");
}

}  // namespace
}  // namespace lzero::match_test
