// The suite that every environment must pass, whatever it is made of: native, plugin or worker
// process. It knows the Env interface only. Failures are results, not errors: a broken environment
// gives a list of what is broken. Blocks for about a second; one thread.
#ifndef LZERO_ENV_CHECK_CONFORMANCE_H_
#define LZERO_ENV_CHECK_CONFORMANCE_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lzero/env/env.h"

namespace lzero {

struct ConformanceCheck {
  std::string name;
  bool passed = false;
  std::string detail;  // what was found wrong, or why it was skipped; may be empty
  // Where it failed: whether it must be mended before training, and why or why not.
  bool hinders = false;
  std::string because = {};
  bool skipped = false;  // passed only because there was nothing to look at
};

struct ConformanceOptions {
  uint64_t seed = 0;
  int64_t num_steps = 1000;  // random steps
  // Called for each check as soon as it is made; may be null.
  std::function<void(const ConformanceCheck&)> on_check = nullptr;
};

// Checks what `factory` makes, many times and equal every time, in this order: create, spec,
// step_before_reset_refused, random_steps, observation_in_space, frames_stacked, mask_and_flags,
// step_cap, returns_consistent, same_seed_same_episode, mask_equals_accepted_actions,
// bad_actions_refused, step_after_end_refused, save_load_equal, broken_save_refused,
// set_state_equal, symmetries_hold, chance_outcomes_hold, box_actions_clipped. When create or spec
// fails, the list ends there. Where the same seed gives other episodes, that alone fails: checks
// that compare episodes are left out and say so.
std::vector<ConformanceCheck> RunConformance(const EnvFactory& factory,
                                             const ConformanceOptions& options);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_CONFORMANCE_H_
