#include "tools/verbs/support/match_player.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "absl/strings/str_cat.h"

namespace lzero::match_player_test {
namespace {

std::string ErrorOf(const std::string& text) {
  return std::string(ParseMatchPlayer(text).status().message());
}

TEST(MatchPlayerTest, NamesAreKnown) {
  for (const std::string name : {"random", "alpha_beta:4", "mcts:100"}) {
    const auto player = ParseMatchPlayer(name);
    ASSERT_TRUE(player.ok()) << player.status();
    EXPECT_EQ(player->name, name);
    EXPECT_FALSE(player->is_agent());
    EXPECT_FALSE(player->simulations.has_value());
  }
}

TEST(MatchPlayerTest, PathsMayNameTheirSimulations) {
  const std::string folder = absl::StrCat(testing::TempDir(), "match_player_", getpid(), "@7");
  std::filesystem::create_directories(folder);
  const auto plain = ParseMatchPlayer(folder);  // its name holds an '@' of its own
  ASSERT_TRUE(plain.ok()) << plain.status();
  EXPECT_TRUE(plain->is_agent());
  EXPECT_EQ(plain->path, folder);
  EXPECT_FALSE(plain->simulations.has_value());
  for (const int simulations : {0, 50, 100000}) {
    const std::string text = absl::StrCat(folder, "@", simulations);
    const auto player = ParseMatchPlayer(text);
    ASSERT_TRUE(player.ok()) << player.status();
    EXPECT_EQ(player->name, text);
    EXPECT_EQ(player->path, folder);
    EXPECT_EQ(player->simulations, simulations);
  }
  for (const std::string number : {"", "many", "-1", "100001", "010", "5.0"}) {
    EXPECT_NE(ErrorOf(absl::StrCat(folder, "@", number))
                  .find(absl::StrCat("simulations a move: got '", number,
                                     "', allowed: an integer from 0 (the policy head alone) to "
                                     "100000")),
              std::string::npos);
  }
  std::filesystem::remove_all(folder);
}

TEST(MatchPlayerTest, UnknownPlayersAreNamed) {
  const std::string known =
      " (known: random, alpha_beta:PLIES, mcts:SIMULATIONS, or a run folder or checkpoint: PATH, "
      "PATH@SIMULATIONS)";
  EXPECT_EQ(ErrorOf("runs/nowhere"), "no player 'runs/nowhere': no such folder");
  EXPECT_EQ(ErrorOf("runs/nowhere@5"), "no player 'runs/nowhere@5': no such folder");
  EXPECT_EQ(ErrorOf("alpha-beta:2"),
            "no player 'alpha-beta:2'; did you mean 'alpha_beta'?" + known);
  EXPECT_EQ(ErrorOf(""), "no player ''" + known);
  EXPECT_EQ(ErrorOf("@5"), "no player '@5'" + known);
  EXPECT_EQ(ErrorOf("mcts"),
            "player 'mcts': mcts takes the simulations a move, 1 .. 10000000, after a colon, as in "
            "mcts:4");
  EXPECT_EQ(ErrorOf("random:3"), "player 'random:3': random takes nothing after it");
}

}  // namespace
}  // namespace lzero::match_player_test
