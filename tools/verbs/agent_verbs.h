// The verbs that train, and so need libtorch, or look at training, one a file. Each adds its
// command line to `app`; `action` is set while that is parsed, to what the chosen verb will do. The
// exit codes are those of interrupt.h.
#ifndef LZERO_TOOLS_VERBS_AGENT_VERBS_H_
#define LZERO_TOOLS_VERBS_AGENT_VERBS_H_

#include <string>
#include <vector>

#include "tools/verbs/support/command_line.h"

namespace lzero {

// train and resume. `command_line`: for the manifest of a run.
void AddTrain(CLI::App& app, VerbAction* action, const std::vector<std::string>& command_line);
// sweep. `command_line`: its first word is what the runs are started as.
void AddSweep(CLI::App& app, VerbAction* action, const std::vector<std::string>& command_line);
void AddForgetting(CLI::App& app, VerbAction* action);
void AddReport(CLI::App& app, VerbAction* action);
void AddDoctor(CLI::App& app, VerbAction* action);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_AGENT_VERBS_H_
