// Two checks of the conformance suite that play on from recorded steps: what chance can do, and box
// actions beyond their bounds. Not for users: RunConformance (conformance.h) is. Errors are
// Internal and say what is wrong and where. Blocks; one thread.
#ifndef LZERO_ENV_CHECK_CONFORMANCE_ACTIONS_H_
#define LZERO_ENV_CHECK_CONFORMANCE_ACTIONS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "lzero/env/check/conformance.h"
#include "lzero/env/check/episode_record.h"

namespace lzero {

// ChanceOutcomes lists different indices in range whose probabilities sum to 1, the drawn outcome
// among them; StepWithOutcome of the drawn one gives the drawn step; others are refused and change
// nothing. An environment that has none says Unimplemented.
absl::Status CheckChanceOutcomes(const ConformanceFactory& factory, const EnvSpec& spec,
                                 absl::Span<const EpisodeRecord> episodes);

// A box action beyond a bound gives the observation, up to rounding, and the end of the bound.
absl::Status CheckClipping(const ConformanceFactory& factory, const EnvSpec& spec,
                           absl::Span<const EpisodeRecord> episodes);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_CONFORMANCE_ACTIONS_H_
