// From visit counts to an action: the temperature schedule and the draw. Not the search. Pure
// functions, apart from the random stream that is passed in.
#ifndef LZERO_AGENT_ACTION_SELECTION_H_
#define LZERO_AGENT_ACTION_SELECTION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "lzero/base/rng.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// The temperature after `env_steps` environment steps, by search.temperature_schedule over
// search.temperature_decay_env_steps, then constant; without a decay search.temperature always.
double TemperatureAt(const SearchConfig& config, int64_t env_steps);

// An action drawn with probability proportional to visit_counts^(1 / temperature), as in [MuZero,
// appendix D]. `visit_counts` [A], at least one positive; `temperature` above 0; `weights` [A]
// scratch, holds the unnormalised probabilities afterwards.
int DrawAction(absl::Span<const int32_t> visit_counts, double temperature, RandomStream* stream,
               absl::Span<double> weights);

}  // namespace lzero

#endif  // LZERO_AGENT_ACTION_SELECTION_H_
