// The verbs that play agents, one a file; they need no libtorch. Each adds its command line to
// `app`; `action` is set while that is parsed, to what the chosen verb will do. The exit codes are
// those of interrupt.h.
#ifndef LZERO_TOOLS_VERBS_PLAYER_PLAYER_VERBS_H_
#define LZERO_TOOLS_VERBS_PLAYER_PLAYER_VERBS_H_

#include <functional>

#include "lzero/player/build_player.h"
#include "tools/verbs/support/command_line.h"

namespace lzero {

// What networks run with in this program.
struct PlayerEngines {
  EngineMaker make_engine;
  std::function<void(int num_threads)> set_threads;  // before any engine is made
  bool packed_alone;                                 // LoadAgentOptions
};

void AddEval(CLI::App& app, VerbAction* action, const PlayerEngines& engines);
void AddPolicy(CLI::App& app, VerbAction* action, const PlayerEngines& engines);
void AddMatch(CLI::App& app, VerbAction* action, const PlayerEngines& engines);
void AddInspect(CLI::App& app, VerbAction* action);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAYER_PLAYER_VERBS_H_
