// How large a world model will be, worked out before anything is allocated. Pure arithmetic that
// mirrors the constructors of networks and their parts; a test compares both.
#ifndef LZERO_WORLD_MODEL_MODEL_SIZE_H_
#define LZERO_WORLD_MODEL_MODEL_SIZE_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/world_model/world_model.h"

namespace lzero {

// WorldModel::num_parameters of this config and shape, exact for every value that the config
// allows. InvalidArgument when the encoder does not fit the observations.
absl::StatusOr<int64_t> CountParameters(const ModelConfig& config, const WorldModelShape& shape);

// The same of AlphaZeroNetwork.
absl::StatusOr<int64_t> CountAlphaZeroParameters(const ModelConfig& config,
                                                 const WorldModelShape& shape);

}  // namespace lzero

#endif  // LZERO_WORLD_MODEL_MODEL_SIZE_H_
