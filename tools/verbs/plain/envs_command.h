// The command line of `lzero envs` and its verbs.
#ifndef LZERO_TOOLS_VERBS_PLAIN_ENVS_COMMAND_H_
#define LZERO_TOOLS_VERBS_PLAIN_ENVS_COMMAND_H_

#include "tools/verbs/support/command_line.h"
#include "tools/verbs/support/picture_output.h"

namespace lzero {

// `action` is set while the command line is parsed, to what the chosen verb will do.
void AddEnvs(CLI::App& app, VerbAction* action);

// The options that belong to --render, of verbs that show environments.
void AddPictureOptions(CLI::App* verb, PictureOptions* options);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_ENVS_COMMAND_H_
