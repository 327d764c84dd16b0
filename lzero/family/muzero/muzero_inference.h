// Initial and recurrent inference of a MuZero network for one role: one latent state a node. Plain
// libtorch on any device; nothing is kept between searches. Spans have the shapes of
// InferenceModel, float32; no gradients. An engine belongs to one thread.
#ifndef LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_
#define LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Allocates weights, latents and buffers. The weights are of no use until the first
// CopyWeightsFrom. Errors as MuZeroNetwork::Create and MakeEngineDevice.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeMuZeroEngine(const EngineOptions& options);
// Bytes that such an engine keeps for good. Nothing is allocated.
absl::StatusOr<int64_t> MuZeroEngineBytes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_MUZERO_MUZERO_INFERENCE_H_
