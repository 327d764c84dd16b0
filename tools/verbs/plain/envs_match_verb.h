// `lzero envs match ID A B`: two players of a board game against each other. A plain function, as
// in envs_verb.h: results go to `console.out`, errors to `console.err`; exit code 0 ok, 2 wrong
// usage.
#ifndef LZERO_TOOLS_VERBS_PLAIN_ENVS_MATCH_VERB_H_
#define LZERO_TOOLS_VERBS_PLAIN_ENVS_MATCH_VERB_H_

#include <cstdint>
#include <string>

#include "lzero/env/env_registry.h"
#include "tools/verbs/plain/envs_verb.h"

namespace lzero {

struct EnvsMatchOptions {
  EnvsTarget target;
  std::string first;  // names of players, see envs/boards/players/opponents.h
  std::string second;
  int64_t num_games = 100;
  uint64_t seed = 0;
};

int EnvsMatch(const EnvRegistry& registry, const EnvsMatchOptions& options, const Console& console);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_ENVS_MATCH_VERB_H_
