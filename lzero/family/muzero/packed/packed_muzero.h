// Inference of MuZero on packed weights, on the CPU: latent states of the nodes, addressed by
// (root, NodeId); nothing is kept between searches. Spans have the shapes of InferenceModel,
// float32. An engine belongs to one thread.
#ifndef LZERO_FAMILY_MUZERO_PACKED_PACKED_MUZERO_H_
#define LZERO_FAMILY_MUZERO_PACKED_PACKED_MUZERO_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Its weights are zeros until the first CopyWeightsFrom. Errors as CheckEncoder.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedMuZero(const EngineOptions& options);
// Bytes that such an engine keeps for good; nothing is allocated. Errors as MakePackedMuZero.
absl::StatusOr<int64_t> PackedMuZeroBytes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_MUZERO_PACKED_PACKED_MUZERO_H_
