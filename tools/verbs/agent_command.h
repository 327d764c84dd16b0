// The command line of the verbs that need an agent, and so libtorch: train, resume, eval, match,
// inspect, doctor.
#ifndef LZERO_TOOLS_VERBS_AGENT_COMMAND_H_
#define LZERO_TOOLS_VERBS_AGENT_COMMAND_H_

#include <string>
#include <vector>

#include "tools/verbs/support/command_line.h"

namespace lzero {

// `action` is set while `command_line` is parsed, to what the chosen verb will do.
void AddAgentVerbs(CLI::App& app, VerbAction* action, const std::vector<std::string>& command_line);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_AGENT_COMMAND_H_
