// `lzero match A B`: two players of a board game against each other, checkpoints among them; who is
// stronger, and by how much.
#ifndef LZERO_TOOLS_VERBS_MATCH_VERB_H_
#define LZERO_TOOLS_VERBS_MATCH_VERB_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace lzero {

struct MatchOptions {
  std::string first;  // see match_player.h
  std::string second;
  std::string env_id;                 // of two players that are no checkpoints
  std::vector<std::string> settings;  // "name=value" of that environment
  int64_t num_games = 100;
  uint64_t seed = 0;
  std::optional<int64_t> opening_plies;  // null: 2 with a checkpoint, else 0
  int64_t threads = 1;                   // of networks, and of players that are none
  std::string device;                    // "": as the run; cpu, cuda
  bool json = false;
  std::optional<double> min_score;  // exit 3 when A takes a smaller part of the points
};

// Exit codes: 0 ok, 1 failure, 2 usage, 3 below min_score, 130 interrupted (the score so far is
// told).
int Match(const MatchOptions& options);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_MATCH_VERB_H_
