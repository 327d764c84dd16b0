// How fast environments step with random actions: what `lzero envs bench` measures. Blocks.
#ifndef LZERO_ENV_CHECK_ENV_SPEED_H_
#define LZERO_ENV_CHECK_ENV_SPEED_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "lzero/env/env.h"

namespace lzero {

struct EnvSpeed {
  int64_t num_steps = 0;     // of all environments together
  int64_t num_episodes = 0;  // begun
  double seconds = 0.0;      // with the choice of the actions and the resets
};

// Steps `envs` (at least one) on this thread for `seconds`: a single one by itself, more of them
// together, so that those of a batch share their messages. An error of an environment is passed on.
absl::StatusOr<EnvSpeed> MeasureEnvSpeed(std::vector<std::unique_ptr<Env>> envs, double seconds);

}  // namespace lzero

#endif  // LZERO_ENV_CHECK_ENV_SPEED_H_
