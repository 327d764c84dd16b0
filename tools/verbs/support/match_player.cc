#include "tools/verbs/support/match_player.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "envs/boards/players/opponents.h"
#include "lzero/base/files.h"
#include "lzero/base/nearest.h"
#include "lzero/base/status_macros.h"
#include "lzero/config/experiment_config.h"
#include "lzero/config/scalar_text.h"

namespace lzero {

absl::StatusOr<MatchPlayer> ParseMatchPlayer(const std::string& text) {
  MatchPlayer player;
  player.name = text;
  // An opponent by name.
  const std::string kind = text.substr(0, text.find(':'));
  const std::vector<std::string>& kinds = OpponentKinds();
  if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) {
    LZ_RETURN_IF_ERROR(MakeOpponent(text, 0).status());
    return player;
  }
  // A path, with or without simulations behind an @.
  player.path = text;
  if (!text.empty() && FileExists(text)) return player;
  const size_t at = text.rfind('@');
  player.path = text.substr(0, at);
  if (player.path.empty() || !FileExists(player.path)) {
    if (player.path.find('/') != std::string::npos) {
      return absl::InvalidArgumentError(
          absl::StrCat("no player ", QuotedForMessage(text), ": no such folder"));
    }
    return absl::InvalidArgumentError(absl::StrCat(
        "no player ", QuotedForMessage(text), DidYouMean(kind, kinds),
        " (known: random, alpha_beta:PLIES, mcts:SIMULATIONS, or a run folder or checkpoint: PATH, "
        "PATH@SIMULATIONS)"));
  }
  // The simulations.
  const std::string number = text.substr(at + 1);
  const auto simulations = ParseInt(number);
  if (!simulations.ok() || *simulations < 0 || *simulations > SearchConfig::kMostSimulations) {
    return absl::InvalidArgumentError(absl::StrCat(
        "player ", QuotedForMessage(text), ": simulations a move: got ", QuotedForMessage(number),
        ", allowed: an integer from 0 (the policy head alone) to ",
        SearchConfig::kMostSimulations));
  }
  player.simulations = *simulations;
  return player;
}

}  // namespace lzero
