// The command line of `lzero bench` and its verbs.
#ifndef LZERO_TOOLS_BENCH_BENCH_COMMAND_H_
#define LZERO_TOOLS_BENCH_BENCH_COMMAND_H_

#include "tools/verbs/support/command_line.h"

namespace lzero {

// `action` is set while the command line is parsed, to what the chosen verb will do.
void AddBench(CLI::App& app, VerbAction* action);

}  // namespace lzero

#endif  // LZERO_TOOLS_BENCH_BENCH_COMMAND_H_
