// The families of environments that run in worker processes: gymnasium:<id>, with Atari games by
// lzero's own preprocessing, and dm_control:<domain>/<task>.
#ifndef LZERO_ENV_PYTHON_WORKER_REGISTRY_H_
#define LZERO_ENV_PYTHON_WORKER_REGISTRY_H_

#include "lzero/env/env_registry.h"

namespace lzero {

// How many processes share `num_envs` environments of these families.
int NumWorkers(const WorkerOptions& options, int num_envs);

// Adds the families. Their environments may outlive the registry.
void RegisterWorkerEnvs(EnvRegistry& registry);

}  // namespace lzero

#endif  // LZERO_ENV_PYTHON_WORKER_REGISTRY_H_
