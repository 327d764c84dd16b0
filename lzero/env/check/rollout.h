// Plays an environment with given or random actions: kept in memory, watched by a function,
// recorded as a trace, or against the clock; and tells where two plays differ. What `lzero envs
// rollout` and `envs bench` do. Not the collector, which plays with an agent. Blocks.
#ifndef LZERO_ENV_CHECK_ROLLOUT_H_
#define LZERO_ENV_CHECK_ROLLOUT_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/env/check/trace.h"
#include "lzero/env/env.h"

namespace lzero {

struct EpisodeRecord {
  uint64_t seed = 0;
  std::vector<Action> actions;
  std::vector<TimeStep> steps;  // [actions + 1]; steps[0] is from Reset
};

// A uniformly random legal action; of a box, uniform between finite bounds, else standard normal.
// A mask without a legal action is an error of the environment: FailedPrecondition.
absl::StatusOr<Action> RandomAction(const EnvSpec& spec, absl::Span<const uint8_t> mask,
                                    RandomStream& random);

// Plays random actions, a function of `seed`, from Reset(seed) to the end or for `max_steps` steps.
// An interrupted episode (TimeStep.interrupted) is an error: Unavailable.
absl::StatusOr<EpisodeRecord> PlayRandomEpisode(Env& env, uint64_t seed, int64_t max_steps);

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

// A function that the rollout calls after every reset and step; an error ends the rollout.
using RolloutWatcher = std::function<absl::Status(const RolloutEvent&)>;

// Plays options.num_steps steps; a new episode starts whenever one ends. An action that the
// environment refuses is returned as its error, with the number of the action.
absl::Status PlayRollout(Env& env, const RolloutOptions& options, const RolloutWatcher& watch);

// The same, as a trace. Two-player episodes that reached their end are recorded as games as
// well, unless they may have begun with moves that nobody sees (random openings).
absl::StatusOr<Trace> RecordRollout(Env& env, const RolloutOptions& options);

struct EnvSpeed {
  int64_t num_steps = 0;     // of all environments together
  int64_t num_episodes = 0;  // begun
  double seconds = 0.0;      // with the choice of the actions and the resets
};

// Steps `envs` (at least one) at random on this thread for `seconds`: a single one by itself, more
// of them together, so that those of a batch share their messages. Passes on an environment's
// error.
absl::StatusOr<EnvSpeed> MeasureEnvSpeed(std::vector<std::unique_ptr<Env>> envs, double seconds);

// Reads an action file. Discrete: integers separated by blanks, commas or line ends. Box: one
// action a line, its numbers separated by blanks or commas. Text after '#' is skipped.
// InvalidArgument names the line.
absl::StatusOr<std::vector<Action>> ParseActions(absl::string_view text, ActionKind kind);

// "WHAT is GOT, expected EXPECTED", or another `word` for "expected"; fractions are exact.
template <typename T, typename U>
std::string Differs(absl::string_view what, const T& got, const U& expected,
                    absl::string_view word = "expected") {
  const auto text = [](const auto& value) -> std::string {
    if constexpr (std::is_floating_point_v<std::decay_t<decltype(value)>>) {
      return ExactNumber(value);
    } else {
      return absl::StrCat(value);
    }
  };
  return absl::StrCat(what, " is ", text(got), ", ", word, " ", text(expected));
}

// "" when the lists have one size and `same` says so of every pair, else the first that Differs.
template <typename T, typename Same>
std::string ListDifference(absl::string_view name, const std::vector<T>& got,
                           const std::vector<T>& expected, const Same& same,
                           absl::string_view word = "expected") {
  if (got.size() != expected.size()) {
    return Differs(absl::StrCat("size of the ", name), got.size(), expected.size(), word);
  }
  for (size_t i = 0; i < got.size(); ++i) {
    if (!same(got[i], expected[i])) {
      return Differs(absl::StrCat(name, "[", i, "]"), got[i], expected[i], word);
    }
  }
  return "";
}

// "" when both are equal to the last bit, else the first field that differs, with both values.
std::string TimeStepDifference(const TimeStep& got, const TimeStep& expected);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_ROLLOUT_H_
