// From what an agent decides to an action of the environment. Pure; any thread.
#ifndef LZERO_ENV_MAKE_ACTION_H_
#define LZERO_ENV_MAKE_ACTION_H_

#include <cstdint>

#include "absl/types/span.h"
#include "lzero/env/env.h"
#include "lzero/env/env_spec.h"

namespace lzero {

// Discrete: the action `index`. Box: `values` [D], each in [-1, 1], scaled to the bounds of
// `spec`, which are finite; -1 and 1 are the bounds themselves.
void MakeAction(const ActionSpec& spec, int32_t index, absl::Span<const float> values,
                Action* action);

}  // namespace lzero

#endif  // LZERO_ENV_MAKE_ACTION_H_
