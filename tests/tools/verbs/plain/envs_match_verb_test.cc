#include <gtest/gtest.h>

#include <sstream>
#include <utility>

#include "envs/register_all.h"
#include "tools/verbs/plain/envs_verb.h"

namespace lzero::envs_match_verb_test {
namespace {

class EnvsMatchVerbTest : public testing::Test {
 protected:
  EnvsMatchVerbTest() { RegisterAllEnvs(registry_); }

  int Match(const std::string& id, const std::string& first, const std::string& second,
            int64_t num_games = 4, uint64_t seed = 0, double openings = 0.0) {
    EnvsMatchOptions options;
    options.target.id = id;
    options.target.options.random_opening_fraction = openings;
    options.first = first;
    options.second = second;
    options.num_games = num_games;
    options.seed = seed;
    return EnvsMatch(registry_, options, {out_, err_});
  }
  // Both streams since the last call.
  std::string Out() { return std::exchange(out_, std::ostringstream()).str(); }
  std::string Err() { return std::exchange(err_, std::ostringstream()).str(); }

  EnvRegistry registry_;
  std::ostringstream out_;
  std::ostringstream err_;
};

TEST_F(EnvsMatchVerbTest, PerfectPlayersDraw) {
  EXPECT_EQ(Match("tictactoe", "alpha_beta:9", "alpha_beta:9", 5), 0);
  EXPECT_EQ(Out(),
            "game          tictactoe\n"
            "A             alpha_beta:9\n"
            "B             alpha_beta:9\n"
            "openings      none, colors alternate (seed 0)\n"
            "\n"
            "               games     won   drawn    lost     score\n"
            "A as first         3       0       3       0    50.0 %\n"
            "A as second        2       0       2       0    50.0 %\n"
            "A in all           5       0       5       0    50.0 %\n"
            "\n"
            "Elo of A - B  +0 (95 % interval -225 .. +225, 2 pairs of games)\n"
            "verdict       not decided by these games\n"
            "moves         9.0 a game, 5 different games\n");
  EXPECT_EQ(Err(), "");
}

TEST_F(EnvsMatchVerbTest, TheSeedDecidesAndOpeningsAreTaken) {
  const auto play = [&](uint64_t seed, double openings) {
    EXPECT_EQ(Match("connect4", "mcts:20", "random", 10, seed, openings), 0);
    const std::string text = Out();
    return text.substr(text.find("A as first"));  // behind the line with the seed
  };
  EXPECT_EQ(play(1, 0.0), play(1, 0.0));
  EXPECT_NE(play(1, 0.0), play(2, 0.0));
  EXPECT_NE(play(1, 0.0), play(1, 1.0));
}

TEST_F(EnvsMatchVerbTest, WrongUsageIsNamed) {
  const auto error = [&](const std::string& id, const std::string& first, const std::string& second,
                         int64_t num_games = 2) {
    EXPECT_EQ(Match(id, first, second, num_games), 2);
    EXPECT_EQ(Out(), "");
    return Err();
  };
  EXPECT_EQ(error("catch", "random", "random"),
            "error: environment 'catch' is no board game for two players\n");
  EXPECT_EQ(error("connect4", "random", "alpha-beta:2"),
            "error: no player 'alpha-beta:2'; did you mean 'alpha_beta'? (known: random, "
            "alpha_beta:PLIES, mcts:SIMULATIONS)\n");
  EXPECT_EQ(error("connect4", "mcts", "random"),
            "error: player 'mcts': mcts takes the simulations a move, 1 .. 10000000, after a "
            "colon, as in mcts:4\n");
  EXPECT_EQ(error("connect4", "random", "random", 0), "error: --games is 0; allowed: 1 or more\n");
  EXPECT_EQ(error("conect4", "random", "random")
                .rfind("error: no environment 'conect4'; did you mean 'connect4'?", 0),
            0u);
}

}  // namespace
}  // namespace lzero::envs_match_verb_test
