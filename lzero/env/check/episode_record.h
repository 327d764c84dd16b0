// One episode kept in memory, for checks and rollouts: what was done, what came back, and where two
// recordings differ. Not a trace file (trace.h) and not training data (replay). Pure functions.
#ifndef LZERO_ENV_CHECK_EPISODE_RECORD_H_
#define LZERO_ENV_CHECK_EPISODE_RECORD_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "lzero/base/rng.h"
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

// What is said of an interrupted step (TimeStep.interrupted), the `t`-th after Reset(seed).
absl::Status InterruptedError(uint64_t seed, size_t t);

// Plays random actions, a function of `seed`, from Reset(seed) to the end or for `max_steps` steps.
// An interrupted episode is an InterruptedError.
absl::StatusOr<EpisodeRecord> PlayRandomEpisode(Env& env, uint64_t seed, int64_t max_steps);

// "" when both are equal to the last bit, else the first field that differs, with both values.
std::string TimeStepDifference(const TimeStep& got, const TimeStep& expected);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_EPISODE_RECORD_H_
