// The rules of the conformance suite that look at recorded time steps only, one function each. Not
// for users: RunConformance (conformance.h) is. Every error is Internal and says what is wrong and
// where. Pure functions.
#ifndef LZERO_ENV_CHECK_CONFORMANCE_RULES_H_
#define LZERO_ENV_CHECK_CONFORMANCE_RULES_H_

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lzero/base/symmetry.h"
#include "lzero/env/check/episode_record.h"
#include "lzero/env/env.h"

namespace lzero {

// "what", and the same with the place in a recording: "seed S, step T: what".
absl::Status Broken(absl::string_view what);
absl::Status BrokenAt(const EpisodeRecord& record, size_t t, absl::string_view what);

// Ids, shapes, bounds, counts and symmetries make sense.
absl::Status CheckSpec(const EnvSpec& spec);
// Every observation has its size, is finite, lies within its bounds, and is made of k / 255 where
// the spec says uint8.
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

// The time step as the environment shows it in the image of its game.
TimeStep ImageOf(const Symmetry& symmetry, const TimeStep& step);

// Actions that must be refused at `step`: out of range, illegal, not a number, of the wrong kind.
std::vector<Action> BadActionsFor(const EnvSpec& spec, const TimeStep& step);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_CONFORMANCE_RULES_H_
