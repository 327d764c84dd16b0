#include "tools/verbs/support/match_report.h"

#include <cmath>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"

namespace lzero {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Without a sign that says nothing: -0.
std::string SignedText(double elo) { return absl::StrFormat("%+.0f", std::round(elo) + 0.0); }

std::string ScoreText(const MatchScore& score) {
  if (score.num_games() == 0) return "-";
  return absl::StrFormat("%.1f %%", 100.0 * score.points_fraction());
}

std::string ScoreLine(const char* games, const MatchScore& score) {
  return absl::StrFormat("%-13s %6d %7d %7d %7d %9s\n", games, score.num_games(), score.wins,
                         score.draws, score.losses, ScoreText(score));
}

std::string SideLine(const char* label, const MatchReport::Side& side) {
  return absl::StrFormat("%-13s %s%s%s\n", label, side.name, side.description.empty() ? "" : ": ",
                         side.description);
}

std::string OpeningText(const MatchReport& report) {
  const MatchPlan& plan = report.plan;
  const std::string seed = absl::StrCat("seed ", plan.seed);
  if (plan.opening_plies == 0 && report.result.num_openings <= 1) {
    return absl::StrCat("none, colors alternate (", seed, ")");
  }
  const std::string moves = plan.opening_plies == 0
                                ? "random ones of the environment"
                                : absl::StrCat(plan.opening_plies, " random ",
                                               plan.opening_plies == 1 ? "move" : "moves");
  return absl::StrCat(moves, ", ", report.result.num_openings,
                      " different, each played twice with colors swapped (", seed, ")");
}

double MeanPlies(const MatchResult& result) {
  return static_cast<double>(result.num_plies) / static_cast<double>(result.total().num_games());
}

OrderedJson ScoreToJson(const MatchScore& score) {
  return {{"games", score.num_games()},
          {"won", score.wins},
          {"drawn", score.draws},
          {"lost", score.losses},
          {"score", score.num_games() == 0 ? OrderedJson() : OrderedJson(score.points_fraction())}};
}

OrderedJson NumberOrNull(const std::optional<double>& number) {
  return number.has_value() ? OrderedJson(*number) : OrderedJson();
}

OrderedJson SideToJson(const MatchReport::Side& side) {
  OrderedJson json = {{"player", side.name}, {"description", side.description}};
  if (!side.moves.has_value()) return json;
  json["moves"] = {{"positions", side.moves->num_positions},
                   {"optimal", side.moves->num_optimal},
                   {"nontrivial", side.moves->num_nontrivial},
                   {"nontrivial_optimal", side.moves->num_nontrivial_optimal}};
  return json;
}

}  // namespace

std::string GameText(const std::string& id, const std::vector<std::string>& settings) {
  return absl::StrCat(id, settings.empty() ? "" : " ", absl::StrJoin(settings, " "));
}

std::string EloText(const EloEstimate& elo) {
  if (elo.num_pairs == 0) return "none, it takes a pair of games";
  const std::string pairs =
      absl::StrCat(elo.num_pairs, elo.num_pairs == 1 ? " pair" : " pairs", " of games)");
  if (!elo.high.has_value()) return absl::StrCat("> ", SignedText(*elo.low), " (95 %, ", pairs);
  if (!elo.low.has_value()) return absl::StrCat("< ", SignedText(*elo.high), " (95 %, ", pairs);
  return absl::StrCat(SignedText(*elo.difference), " (95 % interval ", SignedText(*elo.low), " .. ",
                      SignedText(*elo.high), ", ", pairs);
}

std::string VerdictText(const EloEstimate& elo) {
  if (elo.score_low > 0.5) return "A is stronger";
  if (elo.score_high < 0.5) return "B is stronger";
  return "not decided by these games";
}

std::string MatchWarning(const MatchReport& report) {
  const int64_t num_pairs = (report.result.total().num_games() + 1) / 2;
  const bool is_repeated = report.result.num_openings < num_pairs;
  if (!is_repeated || !report.sides[0].is_deterministic || !report.sides[1].is_deterministic) {
    return "";  // games that chance repeats are draws of their own
  }
  return absl::StrCat("both players always play the same moves: ", num_pairs,
                      " pairs repeat the games of ", report.result.num_openings,
                      report.result.num_openings == 1 ? " opening" : " openings",
                      ", the interval is too narrow; set --opening-plies higher, or --games lower");
}

std::string MatchTable(const MatchReport& report) {
  const MatchResult& result = report.result;
  const EloEstimate elo = EstimateElo(result.pairs);
  // What was played.
  std::string text = absl::StrFormat("%-13s %s\n", "game", report.game);
  text += SideLine("A", report.sides[0]);
  text += SideLine("B", report.sides[1]);
  absl::StrAppendFormat(&text, "%-13s %s\n", "openings", OpeningText(report));
  if (result.is_stopped) {
    absl::StrAppendFormat(&text, "%-13s %d of %d games ended\n", "interrupted",
                          result.total().num_games(), report.plan.num_games);
  }
  // Scores by color.
  absl::StrAppendFormat(&text, "\n%-13s %6s %7s %7s %7s %9s\n", "", "games", "won", "drawn", "lost",
                        "score");
  text += ScoreLine("A as first", result.by_color[0]);
  text += ScoreLine("A as second", result.by_color[1]);
  text += ScoreLine("A in all", result.total());
  // Who is stronger.
  absl::StrAppendFormat(&text, "\n%-13s %s\n", "Elo of A - B", EloText(elo));
  absl::StrAppendFormat(&text, "%-13s %s\n", "verdict", VerdictText(elo));
  if (result.total().num_games() > 0) {
    absl::StrAppendFormat(&text, "%-13s %.1f a game, %d different games\n", "moves",
                          MeanPlies(result), result.num_different_games);
  }
  for (int i = 0; i < 2; ++i) {
    const std::optional<GradeCounts>& moves = report.sides[i].moves;
    if (!moves.has_value()) continue;
    absl::StrAppendFormat(&text, "%-13s optimal %d of %d (%.2f %%), non-trivial %d of %d\n",
                          i == 0 ? "moves of A" : "moves of B", moves->num_optimal,
                          moves->num_positions, 100.0 * moves->optimal_fraction(),
                          moves->num_nontrivial_optimal, moves->num_nontrivial);
  }
  const std::string warning = MatchWarning(report);
  if (!warning.empty()) absl::StrAppendFormat(&text, "%-13s %s\n", "warning", warning);
  return text;
}

namespace {

OrderedJson ReportToJson(const MatchReport& report) {
  const MatchResult& result = report.result;
  const EloEstimate elo = EstimateElo(result.pairs);
  const std::string warning = MatchWarning(report);
  return {{"game", report.game},
          {"a", SideToJson(report.sides[0])},
          {"b", SideToJson(report.sides[1])},
          {"seed", report.plan.seed},
          {"opening_plies", report.plan.opening_plies},
          {"openings", result.num_openings},
          {"different_games", result.num_different_games},
          {"games_asked", report.plan.num_games},
          {"interrupted", result.is_stopped},
          {"as_first", ScoreToJson(result.by_color[0])},
          {"as_second", ScoreToJson(result.by_color[1])},
          {"all", ScoreToJson(result.total())},
          {"pairs_by_half_points", result.pairs},
          {"elo", NumberOrNull(elo.difference)},
          {"elo_95", {NumberOrNull(elo.low), NumberOrNull(elo.high)}},
          {"moves_mean",
           result.total().num_games() == 0 ? OrderedJson() : OrderedJson(MeanPlies(result))},
          {"warning", warning.empty() ? OrderedJson() : OrderedJson(warning)}};
}

// Paths are bytes; JSON is UTF-8.
std::string Dump(const OrderedJson& json) {
  return json.dump(-1, ' ', false, OrderedJson::error_handler_t::replace);
}

// "" where A is not known to be stronger than any.
std::string HighestBeaten(const std::vector<MatchReport>& rungs) {
  std::string highest;
  for (const MatchReport& rung : rungs) {
    if (EstimateElo(rung.result.pairs).score_low > 0.5) highest = rung.sides[1].name;
  }
  return highest;
}

}  // namespace

std::string MatchJson(const MatchReport& report) { return Dump(ReportToJson(report)); }

const std::vector<std::string>& LadderRungs() {
  static const auto* const rungs =
      new std::vector<std::string>{"random", "mcts:10", "mcts:40", "mcts:160", "mcts:640"};
  return *rungs;
}

std::string LadderTable(const std::vector<MatchReport>& rungs) {
  std::string text = absl::StrFormat("%-13s %s\n", "game", rungs[0].game);
  text += SideLine("A", rungs[0].sides[0]);
  absl::StrAppendFormat(&text, "\n%-13s %6s %7s %7s %7s %9s   %s\n", "against", "games", "won",
                        "drawn", "lost", "score", "Elo of A - B");
  for (const MatchReport& rung : rungs) {
    std::string line = ScoreLine(rung.sides[1].name.c_str(), rung.result.total());
    line.pop_back();
    absl::StrAppend(&text, line, "   ", EloText(EstimateElo(rung.result.pairs)), "\n");
  }
  const std::string highest = HighestBeaten(rungs);
  absl::StrAppendFormat(&text, "\n%-13s %s\n", "stronger than",
                        highest.empty() ? "none of these, as far as decided" : highest);
  if (rungs.back().result.is_stopped) {
    absl::StrAppendFormat(&text, "%-13s during the games against %s\n", "interrupted",
                          rungs.back().sides[1].name);
  }
  return text;
}

std::string LadderJson(const std::vector<MatchReport>& rungs) {
  OrderedJson matches = OrderedJson::array();
  for (const MatchReport& rung : rungs) matches.push_back(ReportToJson(rung));
  const std::string highest = HighestBeaten(rungs);
  return Dump({{"stronger_than", highest.empty() ? OrderedJson() : OrderedJson(highest)},
               {"matches", matches}});
}

}  // namespace lzero
