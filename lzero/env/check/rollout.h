// Plays an environment with given or random actions, watched by a function or recorded as a trace:
// what `lzero envs rollout` does. Not the collector, which plays with an agent. Blocks.
#ifndef LZERO_ENV_CHECK_ROLLOUT_H_
#define LZERO_ENV_CHECK_ROLLOUT_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "lzero/env/check/trace.h"
#include "lzero/env/env.h"

namespace lzero {

struct RolloutOptions {
  uint64_t seed = 0;  // of the first episode; episode k starts from seed + k
  int64_t num_steps = 1000;
  // Absent: random legal actions. Given: played in order, fewer steps when they run out.
  std::optional<std::vector<Action>> actions;
  // The settings of `env`, for the meta line.
  double random_opening_fraction = 0.0;
  int64_t random_opening_plies = 0;
  EnvSettingTexts settings = {};
};

// Where a rollout is: at the start of an episode, or behind a step.
struct RolloutEvent {
  int64_t episode = 0;             // from 0
  uint64_t seed = 0;               // of the episode
  int64_t t = 0;                   // steps played in it
  const Action* action = nullptr;  // of the step; null at the start
  const TimeStep& seen;
};

// Is told of every reset and step; an error ends the rollout.
using RolloutWatcher = std::function<absl::Status(const RolloutEvent&)>;

// Plays options.num_steps steps; a new episode starts whenever one ends. An action that the
// environment refuses is returned as its error, with the number of the action.
absl::Status PlayRollout(Env& env, const RolloutOptions& options, const RolloutWatcher& watch);

// The same, as a trace. Two-player episodes that reached their end are recorded as games as
// well, unless they may have begun with moves that nobody sees (random openings).
absl::StatusOr<Trace> RecordRollout(Env& env, const RolloutOptions& options);

// Reads an action file. Discrete: integers separated by blanks, commas or line ends. Box: one
// action a line, its numbers separated by blanks or commas. Text after '#' is skipped.
// InvalidArgument names the line.
absl::StatusOr<std::vector<Action>> ParseActions(absl::string_view text, ActionKind kind);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_ROLLOUT_H_
