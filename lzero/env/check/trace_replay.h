// Checks an environment against a recorded trace. By default every step starts from the recorded
// state before it, with the recorded chance outcome where there is one, so that unstable physics
// cannot drift; whole episodes are played from their seeds. Blocks; one thread.
#ifndef LZERO_ENV_CHECK_TRACE_REPLAY_H_
#define LZERO_ENV_CHECK_TRACE_REPLAY_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/check/trace.h"
#include "lzero/env/env.h"

namespace lzero {

struct ReplayReport {
  int64_t num_episodes = 0;
  int64_t num_whole = 0;  // of them played whole: asked for, or no state to start from
  int64_t num_games = 0;
  int64_t num_steps = 0;                 // and moves of games
  std::vector<std::string> differences;  // the first of each episode and game, with its line
};

// Start states must be equal exactly, observations and rewards within 1e-6 (of the larger of 1 and
// the recorded value), flags exactly; of games the numbers and, where recorded, the sets of legal
// moves exactly, and returns as rewards. `env` must have the cap and the random openings of the
// trace's meta line. InvalidArgument when the trace is of another kind of action, or has games as
// well as random openings: a game begins with its first move.
absl::StatusOr<ReplayReport> ReplayTrace(Env& env, const Trace& trace, bool whole);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_TRACE_REPLAY_H_
