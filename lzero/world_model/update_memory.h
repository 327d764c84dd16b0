// How much memory an update of the learner takes on the way: what the forward pass keeps for the
// backward pass, and the largest gradients. Bounds for the plan of a run, from the sizes of the
// layers; measured runs stay below (cli.memory, experiments/2026-11-22_pong). Pure arithmetic; no
// device.
#ifndef LZERO_WORLD_MODEL_UPDATE_MEMORY_H_
#define LZERO_WORLD_MODEL_UPDATE_MEMORY_H_

#include <cstdint>

#include "lzero/config/experiment_config.h"
#include "lzero/world_model/network.h"

namespace lzero {

// Bytes. N train.batch_size, C and U of replay; the encoder must fit the shape.
int64_t UniZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape);
int64_t MuZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape);
int64_t AlphaZeroUpdateBytes(const ExperimentConfig& config, const WorldModelShape& shape);

}  // namespace lzero

#endif  // LZERO_WORLD_MODEL_UPDATE_MEMORY_H_
