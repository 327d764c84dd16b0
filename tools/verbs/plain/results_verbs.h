// The verbs that read what runs left behind: `lzero runs` lists them, `lzero compare` puts their
// returns beside each other, `lzero scores` does so task by task. Each adds its command line to
// `app`; `action` is set while that is parsed. Exit codes: 0 ok, 2 usage, or runs that cannot be
// read or compared.
#ifndef LZERO_TOOLS_VERBS_PLAIN_RESULTS_VERBS_H_
#define LZERO_TOOLS_VERBS_PLAIN_RESULTS_VERBS_H_

#include <string>

#include "lzero/results/group_summary.h"
#include "lzero/results/run_group.h"
#include "tools/verbs/support/command_line.h"

namespace lzero {

void AddRuns(CLI::App& app, VerbAction* action);
void AddCompare(CLI::App& app, VerbAction* action);
void AddScores(CLI::App& app, VerbAction* action);

// "0.83", or "0.83 [0.71, 0.92]" with its interval.
std::string EstimateText(const Estimate& estimate);

// Names the runs that were left out, on stderr.
void PrintSkipped(absl::Span<const SkippedRun> skipped);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_RESULTS_VERBS_H_
