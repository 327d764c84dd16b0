// Engines of UniZero whose network is libtorch's, on any device: eager, or recorded as graphs. No
// gradients. An engine belongs to one thread.
#ifndef LZERO_FAMILY_UNIZERO_UNIZERO_ENGINE_H_
#define LZERO_FAMILY_UNIZERO_UNIZERO_ENGINE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/family/unizero/engine/unizero_inference.h"
#include "lzero/inference/tensor/engine_device.h"

namespace lzero {

// Allocates weights, cache and step buffers. The weights are those of a fresh model of seed 0, of
// no use until the first CopyWeightsFrom.
absl::StatusOr<std::unique_ptr<UniZeroInference>> MakeUniZeroEngine(const EngineOptions& options);
// The same on a device that was made already, whatever options.inference.device says.
absl::StatusOr<std::unique_ptr<UniZeroInference>> MakeUniZeroEngineOn(const EngineOptions& options,
                                                                      EngineDevice device);
// Bytes that it keeps for good: weights, cache, contexts of roots, buffers of the step. Nothing is
// allocated. Errors as those of the cache.
absl::StatusOr<int64_t> UniZeroEngineBytes(const EngineOptions& options);
// Nodes of the graphs that it records on a CUDA device; 0 where it records none.
int64_t UniZeroGraphNodes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_UNIZERO_UNIZERO_ENGINE_H_
