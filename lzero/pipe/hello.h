// The first frame that a child of lzero writes: what it is, as one JSON object. Pure functions.
#ifndef LZERO_PIPE_HELLO_H_
#define LZERO_PIPE_HELLO_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "lzero/env/env.h"

namespace lzero {

// What a policy says of itself beside its environment.
struct PolicyFacts {
  std::string checkpoint;
  std::string family;
  int64_t env_steps = 0;
  int64_t num_simulations = 0;
  int64_t max_past_steps = 0;
  int max_batch = 1;
  bool needs_state = false;
  std::string observation;  // env.observation of the run
};

// Frames kHello. `version`: of the program.
std::string EnvHello(const EnvSpec& spec, absl::string_view version);
std::string PolicyHello(const PolicyFacts& facts, const EnvSpec& spec, absl::string_view version);

}  // namespace lzero

#endif  // LZERO_PIPE_HELLO_H_
