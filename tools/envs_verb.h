// `lzero envs ...`: list, info, check, rollout, replay, perft and bench. Plain functions: the
// command line is parsed elsewhere. Each writes results to `console.out`, errors to `console.err`,
// and returns the exit code: 0 ok, 1 a check failed or a file could not be written, 2 wrong usage
// (unknown id, option, file or file content).
#ifndef LZERO_TOOLS_ENVS_VERB_H_
#define LZERO_TOOLS_ENVS_VERB_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>

#include "lzero/env/env_registry.h"

namespace lzero {

struct Console {
  std::ostream& out;
  std::ostream& err;
};

// Which environment, with its settings (--max-episode-steps and the like).
struct EnvsTarget {
  std::string id;
  EnvOptions options;
};

struct EnvsCheckOptions {
  EnvsTarget target;
  uint64_t seed = 0;
  int64_t num_steps = 1000;
};

struct EnvsRolloutOptions {
  EnvsTarget target;
  uint64_t seed = 0;
  std::string actions = "random";    // or the path of an action file (rollout.h)
  std::optional<int64_t> num_steps;  // absent: every action of the file, or 1000 random ones
  std::string out_path;              // empty: the trace goes to console.out
};

struct EnvsReplayOptions {
  // A step cap in the trace's meta line replaces options.max_episode_steps, and the random openings
  // are those of the trace.
  EnvsTarget target;
  std::string trace_path;
  bool whole = false;
};

struct EnvsPerftOptions {
  EnvsTarget target;
  int depth = 1;
  uint64_t seed = 0;
};

struct EnvsBenchOptions {
  EnvsTarget target;
  double seconds = 1.0;
};

int EnvsList(const EnvRegistry& registry, const Console& console);
int EnvsInfo(const EnvRegistry& registry, const EnvsTarget& target, const Console& console);
int EnvsCheck(const EnvRegistry& registry, const EnvsCheckOptions& options, const Console& console);
int EnvsRollout(const EnvRegistry& registry, const EnvsRolloutOptions& options,
                const Console& console);
int EnvsReplay(const EnvRegistry& registry, const EnvsReplayOptions& options,
               const Console& console);
int EnvsPerft(const EnvRegistry& registry, const EnvsPerftOptions& options, const Console& console);
int EnvsBench(const EnvRegistry& registry, const EnvsBenchOptions& options, const Console& console);

}  // namespace lzero

#endif  // LZERO_TOOLS_ENVS_VERB_H_
