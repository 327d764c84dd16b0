// What the families have in common whose network records no graphs and sees one observation: the
// rules that follow, and what is told of it. Any thread.
#ifndef LZERO_FAMILY_EAGER_FAMILY_H_
#define LZERO_FAMILY_EAGER_FAMILY_H_

#include <vector>

#include "lzero/config/consistency.h"
#include "lzero/config/experiment_config.h"
#include "lzero/inference/engine_device.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Settings of such a family, named by the config, that only family unizero has.
std::vector<ConsistencyError> EagerFamilyErrors(const ExperimentConfig& config);

// Whether an engine of such a family runs packed, as it does on the CPU unless told otherwise.
bool RunsPacked(const InferenceConfig& inference);

// MakeEngineDevice for an engine of such a family. Logs what `auto` stands for on a CUDA device,
// where another family would record graphs.
absl::StatusOr<EngineDevice> MakeEagerDevice(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_EAGER_FAMILY_H_
