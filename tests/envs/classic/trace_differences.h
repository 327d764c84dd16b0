// How far an environment is from a recorded trace, in numbers, where ReplayTrace says yes or no.
// For the tests of the classic environments and for the oracle. Blocks; one thread.
#ifndef LZERO_TESTS_ENVS_CLASSIC_TRACE_DIFFERENCES_H_
#define LZERO_TESTS_ENVS_CLASSIC_TRACE_DIFFERENCES_H_

#include <cstdint>
#include <string>

#include "lzero/env/check/trace.h"
#include "lzero/env/env.h"

namespace lzero {

// The largest of each kind over the whole trace; start states count as states.
struct TraceDifferences {
  int64_t num_steps = 0;
  int64_t observation_ulp = 0;  // units in the last place of a float32
  double reward = 0.0;          // of the larger of 1 and the recorded reward
  double state = 0.0;
  int64_t num_unequal_starts = 0;   // start states that are not equal to the last bit
  int64_t num_unequal_rewards = 0;  // rewards that are not the recorded one rounded to float32
  int64_t num_unequal_flags = 0;    // steps with another terminated or, if whole, truncated
  std::string problem;              // why the comparison ended early; else empty

  // "observation 1 ulp, reward 3e-08, state 0, ...".
  std::string Text() const;
};

// From the floats of `a` to `b`, counted in representable numbers.
int64_t UlpDistance(float a, float b);

// Plays the trace on `env`, which has its cap: one step from every recorded state, or, if `whole`,
// every episode from its seed by its actions alone.
TraceDifferences MeasureDifferences(Env& env, const Trace& trace, bool whole);

}  // namespace lzero

#endif  // LZERO_TESTS_ENVS_CLASSIC_TRACE_DIFFERENCES_H_
