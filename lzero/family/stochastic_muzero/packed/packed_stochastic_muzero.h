// Inference of Stochastic MuZero on packed weights, on the CPU: latent states of decision nodes and
// of afterstates, which alternate along every path, addressed by (root, NodeId). Spans have the
// shapes of InferenceModel, float32. An engine belongs to one thread.
#ifndef LZERO_FAMILY_STOCHASTIC_MUZERO_PACKED_PACKED_STOCHASTIC_MUZERO_H_
#define LZERO_FAMILY_STOCHASTIC_MUZERO_PACKED_PACKED_STOCHASTIC_MUZERO_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Its weights are zeros until the first CopyWeightsFrom. Errors as CheckEncoder.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedStochasticMuZero(
    const EngineOptions& options);
// Bytes that such an engine keeps for good; nothing is allocated. Errors as CheckEncoder.
absl::StatusOr<int64_t> PackedStochasticMuZeroBytes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_STOCHASTIC_MUZERO_PACKED_PACKED_STOCHASTIC_MUZERO_H_
