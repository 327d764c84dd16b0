#include "tools/verbs/support/match_report.h"

#include <gtest/gtest.h>

#include "nlohmann/json.hpp"

namespace lzero::match_report_test {
namespace {

MatchReport ReportOf(const PairCounts& pairs) {
  MatchReport report;
  report.game = "tictactoe";
  report.sides[0] = {"runs/x@50", "50 simulations a move, runs/x/checkpoints/step_000003000", true};
  report.sides[1] = {"mcts:100", "", false};
  report.plan = {16, 7, 2, 64};
  report.result.by_color = {MatchScore{5, 2, 1}, MatchScore{3, 1, 4}};
  report.result.pairs = pairs;
  report.result.num_plies = 120;
  report.result.num_openings = 8;
  report.result.num_different_games = 16;
  return report;
}

// The interval of these pairs is worked out in elo_test.cc: 0.346615 .. 0.757051 about 0.5625.
constexpr PairCounts kPairs = {1, 1, 2, 3, 1};

TEST(MatchReportTest, TheTable) {
  EXPECT_EQ(MatchTable(ReportOf(kPairs)),
            "game          tictactoe\n"
            "A             runs/x@50: 50 simulations a move, runs/x/checkpoints/step_000003000\n"
            "B             mcts:100\n"
            "openings      2 random moves, 8 different, each played twice with colors swapped "
            "(seed 7)\n"
            "\n"
            "               games     won   drawn    lost     score\n"
            "A as first         8       5       2       1    75.0 %\n"
            "A as second        8       3       1       4    43.8 %\n"
            "A in all          16       8       3       5    59.4 %\n"
            "\n"
            "Elo of A - B  +44 (95 % interval -110 .. +197, 8 pairs of games)\n"
            "verdict       not decided by these games\n"
            "moves         7.5 a game, 16 different games\n");
}

TEST(MatchReportTest, JudgedMovesAreTold) {
  MatchReport report = ReportOf(kPairs);
  report.sides[1].moves = GradeCounts{40, 30, 20, 10};
  EXPECT_NE(
      MatchTable(report).find("moves of B    optimal 30 of 40 (75.00 %), non-trivial 10 of 20\n"),
      std::string::npos)
      << MatchTable(report);
  EXPECT_EQ(MatchTable(report).find("moves of A"), std::string::npos);
  const auto json = nlohmann::json::parse(MatchJson(report));
  EXPECT_FALSE(json["a"].contains("moves"));
  EXPECT_EQ(json["b"]["moves"].dump(),
            R"({"nontrivial":20,"nontrivial_optimal":10,"optimal":30,"positions":40})");
}

TEST(MatchReportTest, OpeningsAreTold) {
  const auto line_of = [](int64_t plies, int64_t num_openings) {
    MatchReport report = ReportOf(kPairs);
    report.plan.opening_plies = plies;
    report.result.num_openings = num_openings;
    const std::string table = MatchTable(report);
    const size_t begin = table.find("openings");
    return table.substr(begin, table.find('\n', begin) - begin);
  };
  EXPECT_EQ(line_of(0, 1), "openings      none, colors alternate (seed 7)");
  EXPECT_EQ(line_of(1, 8),
            "openings      1 random move, 8 different, each played twice with colors swapped "
            "(seed 7)");
  EXPECT_EQ(line_of(0, 8),
            "openings      random ones of the environment, 8 different, each played twice with "
            "colors swapped (seed 7)");
}

TEST(MatchReportTest, AnInterruptedMatchSaysSo) {
  MatchReport report = ReportOf({});
  report.result = MatchResult();
  report.result.is_stopped = true;
  const std::string table = MatchTable(report);
  EXPECT_NE(table.find("interrupted   0 of 16 games ended\n"), std::string::npos) << table;
  EXPECT_NE(table.find("A in all           0       0       0       0         -\n"),
            std::string::npos)
      << table;
  EXPECT_NE(table.find("Elo of A - B  none, it takes a pair of games\n"), std::string::npos);
  EXPECT_EQ(table.find(" a game\n"), std::string::npos);  // no mean of no games
}

TEST(MatchReportTest, EloHasNoInfiniteNumbers) {
  EXPECT_EQ(EloText(EstimateElo({0, 0, 0, 0, 50})), "> +446 (95 %, 50 pairs of games)");
  EXPECT_EQ(EloText(EstimateElo({1, 0, 0, 0, 0})), "< +234 (95 %, 1 pair of games)");
  EXPECT_EQ(EloText(EstimateElo({})), "none, it takes a pair of games");
  EXPECT_EQ(EloText(EstimateElo({0, 0, 3, 0, 0})).substr(0, 4), "+0 (");
}

TEST(MatchReportTest, TheVerdictFollowsTheInterval) {
  EXPECT_EQ(VerdictText(EstimateElo({0, 0, 0, 0, 50})), "A is stronger");
  EXPECT_EQ(VerdictText(EstimateElo({50, 0, 0, 0, 0})), "B is stronger");
  EXPECT_EQ(VerdictText(EstimateElo({0, 0, 0, 0, 1})), "not decided by these games");
  EXPECT_EQ(VerdictText(EstimateElo({})), "not decided by these games");
}

TEST(MatchReportTest, RepeatedGamesAreWarnedOf) {
  MatchReport report = ReportOf(kPairs);
  report.sides[1].is_deterministic = true;
  EXPECT_EQ(MatchWarning(report), "");  // eight openings for eight pairs
  report.result.num_openings = 1;
  const std::string warning =
      "both players always play the same moves: 8 pairs repeat the games of 1 opening, the "
      "interval is too narrow; set --opening-plies higher, or --games lower";
  EXPECT_EQ(MatchWarning(report), warning);
  EXPECT_NE(MatchTable(report).find("warning       " + warning + "\n"), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(MatchJson(report)).at("warning"), warning);
  report.sides[0].is_deterministic = false;
  EXPECT_EQ(MatchWarning(report), "");
  report.result.num_different_games = 11;  // the same game by chance is another draw
  EXPECT_EQ(MatchWarning(report), "");
}

TEST(MatchReportTest, Json) {
  const auto json = nlohmann::json::parse(MatchJson(ReportOf(kPairs)));
  EXPECT_EQ(json.at("game"), "tictactoe");
  EXPECT_EQ(json.at("a").at("player"), "runs/x@50");
  EXPECT_EQ(json.at("b").at("player"), "mcts:100");
  EXPECT_EQ(json.at("games_asked"), 16);
  EXPECT_EQ(json.at("seed"), 7);
  EXPECT_EQ(json.at("opening_plies"), 2);
  EXPECT_EQ(json.at("openings"), 8);
  EXPECT_EQ(json.at("different_games"), 16);
  EXPECT_EQ(json.at("interrupted"), false);
  EXPECT_EQ(json.at("as_first").at("won"), 5);
  EXPECT_EQ(json.at("as_second").at("lost"), 4);
  EXPECT_EQ(json.at("all").at("games"), 16);
  EXPECT_EQ(json.at("all").at("score"), 0.59375);
  EXPECT_EQ(json.at("pairs_by_half_points"), nlohmann::json({1, 1, 2, 3, 1}));
  EXPECT_NEAR(json.at("elo").get<double>(), 43.66, 0.01);
  EXPECT_NEAR(json.at("elo_95").at(0).get<double>(), -110.13, 0.01);
  EXPECT_NEAR(json.at("elo_95").at(1).get<double>(), 197.44, 0.01);
  EXPECT_EQ(json.at("moves_mean"), 7.5);
  EXPECT_TRUE(json.at("warning").is_null());

  const auto won = nlohmann::json::parse(MatchJson(ReportOf({0, 0, 0, 0, 8})));
  EXPECT_TRUE(won.at("elo").is_null());
  EXPECT_TRUE(won.at("elo_95").at(1).is_null());
  MatchReport none = ReportOf({});
  none.result = MatchResult();
  none.sides[0].name = "bytes \xff";  // a path need not be UTF-8
  EXPECT_TRUE(nlohmann::json::parse(MatchJson(none)).at("all").at("score").is_null());
}

TEST(MatchReportTest, AGameIsItsEnvironmentAndSettings) {
  EXPECT_EQ(GameText("othello", {}), "othello");
  EXPECT_EQ(GameText("go", {"board_size=5", "komi=0.5"}), "go board_size=5 komi=0.5");
}

MatchReport Rung(const char* name, const MatchScore& score, const PairCounts& pairs) {
  MatchReport report = ReportOf(pairs);
  report.sides[1].name = name;
  report.result.by_color = {score, MatchScore{}};
  return report;
}

// Nothing but won pairs, 10 lost ones, and the undecided ones of above.
TEST(LadderReportTest, ALineForEachRungAndTheHighestThatIsBeaten) {
  const std::vector<MatchReport> rungs = {Rung("random", {20, 0, 0}, {0, 0, 0, 0, 10}),
                                          Rung("mcts:10", {8, 3, 5}, kPairs),
                                          Rung("mcts:40", {0, 0, 20}, {10, 0, 0, 0, 0})};
  const std::string table = LadderTable(rungs);
  EXPECT_EQ(table.substr(0, table.find("random")),
            "game          tictactoe\n"
            "A             runs/x@50: 50 simulations a move, runs/x/checkpoints/step_000003000\n"
            "\n"
            "against        games     won   drawn    lost     score   Elo of A - B\n");
  EXPECT_NE(table.find("random            20      20       0       0   100.0 %   > +"),
            std::string::npos);
  EXPECT_NE(table.find("mcts:10           16       8       3       5    59.4 %   +44 (95 % "
                       "interval -110 .. +197, 8 pairs of games)\n"),
            std::string::npos);
  EXPECT_NE(table.find("\nstronger than random\n"), std::string::npos);
  const auto json = nlohmann::json::parse(LadderJson(rungs));
  EXPECT_EQ(json["stronger_than"], "random");
  ASSERT_EQ(json["matches"].size(), 3u);
  EXPECT_EQ(json["matches"][1]["b"]["player"], "mcts:10");
  EXPECT_EQ(json["matches"][2]["all"]["lost"], 20);
}

TEST(LadderReportTest, SaysWhenNoRungIsBeatenAndWhereItWasInterrupted) {
  std::vector<MatchReport> rungs = {Rung("random", {8, 3, 5}, kPairs)};
  rungs[0].result.is_stopped = true;
  const std::string table = LadderTable(rungs);
  EXPECT_NE(table.find("\nstronger than none of these, as far as decided\n"
                       "interrupted   during the games against random\n"),
            std::string::npos)
      << table;
  EXPECT_TRUE(nlohmann::json::parse(LadderJson(rungs))["stronger_than"].is_null());
}

}  // namespace
}  // namespace lzero::match_report_test
