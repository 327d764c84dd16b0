// What is told about a match: a table or a JSON object with the score, the Elo difference and who
// is stronger. Plays nothing. Pure functions.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_MATCH_REPORT_H_
#define LZERO_TOOLS_VERBS_SUPPORT_MATCH_REPORT_H_

#include <array>
#include <string>
#include <vector>

#include "envs/boards/players/elo.h"
#include "envs/boards/players/match.h"

namespace lzero {

struct MatchReport {
  struct Side {
    std::string name;                       // as typed
    std::string description;                // "25 simulations a move, ..."; may be empty
    bool is_deterministic = false;          // plays the same move in the same position always
    std::optional<GradeCounts> moves = {};  // compared with perfect ones
  };

  std::string game;  // "go board_size=5"
  std::array<Side, 2> sides;
  MatchPlan plan;
  MatchResult result;
};

// An environment and its settings, "name=value".
std::string GameText(const std::string& id, const std::vector<std::string>& settings);

// "+127 (95 % interval +60 .. +200, 50 pairs of games)"; "> +446 (95 %, 50 pairs of games)" where
// all points are won, "< -446 ..." where all are lost; "none" without a pair.
std::string EloText(const EloEstimate& elo);

// "A is stronger", "B is stronger", or that it is not decided.
std::string VerdictText(const EloEstimate& elo);

// What makes the interval too narrow, for the user to mend; "" if nothing does.
std::string MatchWarning(const MatchReport& report);

// Lines with '\n'.
std::string MatchTable(const MatchReport& report);

// One line without '\n'. Numbers that do not exist are null.
std::string MatchJson(const MatchReport& report);

// The opponents of `lzero match A ladder`: players that every board game has, from weak to strong.
inline constexpr char kLadderName[] = "ladder";
const std::vector<std::string>& LadderRungs();

// The matches of one A against rungs, weakest first, at least one: a line each, and the highest
// rung that A takes more than half of the points from, the whole 95 % interval considered.
std::string LadderTable(const std::vector<MatchReport>& rungs);
std::string LadderJson(const std::vector<MatchReport>& rungs);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_MATCH_REPORT_H_
