// `lzero envs ...`: list, info, check, rollout, replay, perft, bench, match and serve. Plain
// functions: the command line is parsed in envs_command.cc. Each writes results to `console.out`,
// errors to `console.err`, and returns the exit code: 0 ok, 1 a check failed or a file could not be
// written, 2 wrong usage (unknown id, option, file or file content).
#ifndef LZERO_TOOLS_VERBS_PLAIN_ENVS_VERB_H_
#define LZERO_TOOLS_VERBS_PLAIN_ENVS_VERB_H_

#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/env.h"
#include "lzero/env/env_registry.h"
#include "tools/verbs/support/command_line.h"
#include "tools/verbs/support/picture_output.h"

namespace lzero {

struct Console {
  std::ostream& out;
  std::ostream& err;
};

// Which environment, with its settings (--max-episode-steps and the like, and name=value).
struct EnvsTarget {
  std::string id;
  EnvOptions options;
  std::vector<std::string> settings = {};  // "name=value"
};

// The options of the target, its settings among them. InvalidArgument for what is no name=value.
absl::StatusOr<EnvOptions> OptionsOf(const EnvsTarget& target);

struct EnvsCheckOptions {
  EnvsTarget target;
  uint64_t seed = 0;
  int64_t num_steps = 1000;
};

struct EnvsRolloutOptions {
  EnvsTarget target;
  uint64_t seed = 0;
  std::string actions = "random";  // or the path of an action file (rollout.h)
  // Absent: every action of the file, or 1000 random ones, 200 of them where they are shown.
  std::optional<int64_t> num_steps;
  std::string out_path;    // empty: the trace goes to console.out
  PictureOptions picture;  // with a format: the episodes are shown, no trace
};

struct EnvsReplayOptions {
  // Step cap, random openings and settings are those of the trace; other ones are refused.
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
  int num_envs = 1;     // stepped together
  int num_workers = 0;  // processes of Python environments; 0: one for each core
};

struct EnvsMatchOptions {
  EnvsTarget target;
  std::string first;  // names of players, see envs/boards/players/opponents.h
  std::string second;
  int64_t num_games = 100;
  uint64_t seed = 0;
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
// Two players of a board game against each other.
int EnvsMatch(const EnvRegistry& registry, const EnvsMatchOptions& options, const Console& console);

struct EnvsServeOptions {
  EnvsTarget target;
  bool is_stdio = false;
};

// One environment for another program, over standard input and output (lzero/pipe/env_server.h).
int EnvsServe(const EnvRegistry& registry, const EnvsServeOptions& options, const Console& console);

inline constexpr absl::string_view kRolloutFormats[] = {"text", "png", "gif"};
inline constexpr int64_t kRenderedSteps = 200;  // where nothing says how many
inline constexpr int64_t kMostRenderedSteps = 5000;

// `lzero envs rollout --render`, in place of the trace: plays as `plan` says and writes what
// `picture` asks for to `out_path`; "" stands for the console for text, otherwise for
// DefaultPicturePath. Text shows every state below a line that says how it came about. Exit codes:
// 0 ok, 1 nothing could be written or the environment failed, 2 wrong options, or an environment
// that does not draw itself like that.
int RenderRollout(Env& env, const RolloutOptions& plan, const PictureOptions& picture,
                  const std::string& out_path, const Console& console);

// The command line of `lzero envs` and its verbs. `action` is set while that is parsed, to what the
// chosen verb will do.
void AddEnvs(CLI::App& app, VerbAction* action);

}  // namespace lzero

#endif  // LZERO_TOOLS_VERBS_PLAIN_ENVS_VERB_H_
