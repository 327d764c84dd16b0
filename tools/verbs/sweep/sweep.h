// `lzero sweep`: trains every combination of some settings with several seeds, each run by a child
// process of this program, and goes on where an earlier sweep in the same folder stopped.
#ifndef LZERO_TOOLS_VERBS_SWEEP_SWEEP_H_
#define LZERO_TOOLS_VERBS_SWEEP_SWEEP_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/config/assemble.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

struct SweepOptions {
  std::string config_path;
  std::vector<std::string> overrides;  // "key.path=value" and "key.path=a,b,c"
  std::string seeds = "0..4";          // as ParseSeedList takes them
  int64_t num_jobs = 1;                // runs at a time
  std::string out;                     // "": runs/sweeps/<name of the config>-<utc>
  bool dry_run = false;                // check everything, print the runs and stop
  std::string typed;                   // the first word of the command line
  std::string program;                 // version and commit
};

// What floors above know of a run.
struct SweepRules {
  ConfigRule config;  // what it must keep to
  // Bytes of memory that it needs at most.
  std::function<absl::StatusOr<int64_t>(const ExperimentConfig&)> memory_bytes;
};

// Exit codes: 0 every run is finished; that of the worst run where one failed, the largest, 128 + N
// after signal N; 1 the folder or a result cannot be read or written; 2 a wrong command, config or
// folder, before anything starts; 130 interrupted.
int Sweep(const SweepOptions& options, const SweepRules& rules);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_SWEEP_SWEEP_H_
