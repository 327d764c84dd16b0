// The rules of the conformance suite that look at recorded time steps, one function each, and two
// that play on from them: what chance can do, and box actions beyond their bounds. Not for users:
// RunConformance (conformance.h) is. Every other error is Internal and says what is wrong and
// where.
#ifndef LZERO_ENV_CHECK_CONFORMANCE_RULES_H_
#define LZERO_ENV_CHECK_CONFORMANCE_RULES_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "lzero/base/symmetry.h"
#include "lzero/env/check/rollout.h"
#include "lzero/env/env.h"

namespace lzero {

// The parts of `what`, and the same with the place in a recording: "seed S, step T: what".
template <typename... Parts>
absl::Status Broken(const Parts&... what) {
  return absl::InternalError(absl::StrCat(what...));
}
template <typename... Parts>
absl::Status BrokenAt(const EpisodeRecord& record, size_t t, const Parts&... what) {
  return Broken("seed ", record.seed, ", step ", t, ": ", what...);
}
// An error as one of that place.
absl::Status At(const EpisodeRecord& record, size_t t, const absl::Status& status);
// BrokenAt for an error, or for a time step that differs; then the message begins with `how`.
absl::Status CheckSame(const EpisodeRecord& record, size_t t, const absl::StatusOr<TimeStep>& got,
                       const TimeStep& expected, absl::string_view how = "");

// Ids, shapes, bounds, counts and symmetries make sense.
absl::Status CheckSpec(const EnvSpec& spec);
// Every observation has its size, is finite, and is made of k / 255 where the spec says uint8; then
// OutOfRange for one that is not within its bounds.
absl::Status CheckObservations(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes);
// After a step an observation of stacked frames is the one before without its oldest block, and a
// new one (ObservationSpec::frame_stack).
absl::Status CheckFrameStack(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes);
// Masks have their size, hold 0 and 1, and are empty exactly after the end; to_play is a player;
// rewards are finite; Reset gives no reward and no end.
absl::Status CheckMasksAndFlags(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes);
// Episodes end at the cap and are truncated nowhere else.
absl::Status CheckStepCaps(const EnvSpec& spec, absl::Span<const EpisodeRecord> episodes);
// episode_return is the sum of the rewards from player 0's view, within 1e-6.
absl::Status CheckReturns(absl::Span<const EpisodeRecord> episodes);

// ChanceOutcomes lists different indices in range whose probabilities sum to 1, the drawn outcome
// among them; StepWithOutcome of the drawn one gives the drawn step; others are refused and change
// nothing. An environment that has none says Unimplemented. Blocks, as the next.
absl::Status CheckChanceOutcomes(const EnvFactory& factory, const EnvSpec& spec,
                                 absl::Span<const EpisodeRecord> episodes);
// A box action beyond a bound gives the observation, up to rounding, and the end of the bound.
absl::Status CheckClipping(const EnvFactory& factory, const EnvSpec& spec,
                           absl::Span<const EpisodeRecord> episodes);

// The time step as the environment shows it in the image of its game.
TimeStep ImageOf(const Symmetry& symmetry, const TimeStep& step);

// Actions that must be refused at `step`: out of range, illegal, not a number, of the wrong kind.
// Where there are very many actions, an even choice of the illegal ones.
std::vector<Action> BadActionsFor(const EnvSpec& spec, const TimeStep& step);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_CONFORMANCE_RULES_H_
