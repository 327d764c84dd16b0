// The explicit list of the native environments. A new environment adds one entry in the .cc file.
#ifndef LZERO_ENVS_REGISTER_ALL_H_
#define LZERO_ENVS_REGISTER_ALL_H_

#include "lzero/env/env_registry.h"

namespace lzero {

// Adds every native environment, with its grader if it has one. Calling it twice on one registry is
// our bug.
void RegisterAllEnvs(EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_ENVS_REGISTER_ALL_H_
