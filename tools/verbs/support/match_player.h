// The players of `lzero match` as a user types them. Knows names and paths, plays nothing. Pure,
// but for a look at the disk.
#ifndef LZERO_TOOLS_VERBS_SUPPORT_MATCH_PLAYER_H_
#define LZERO_TOOLS_VERBS_SUPPORT_MATCH_PLAYER_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"

namespace lzero {

struct MatchPlayer {
  std::string name;  // as typed
  std::string path;  // of a run folder or checkpoint; "": one of envs/boards/players/opponents.h
  // Simulations a move, behind the '@' of a path; 0: the policy head alone; nullopt: as the run
  // evaluates.
  std::optional<int64_t> simulations;

  bool is_agent() const { return !path.empty(); }
};

// "random", "alpha_beta:4", "mcts:100", "runs/x", "runs/x@50". What begins as one of the first
// three is no path ("./random" is one); a path that exists may hold an '@' itself. InvalidArgument
// names what is known, or what is wrong with a number.
absl::StatusOr<MatchPlayer> ParseMatchPlayer(const std::string& text);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SUPPORT_MATCH_PLAYER_H_
