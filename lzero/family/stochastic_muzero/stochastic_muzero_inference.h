// Initial and recurrent inference of a Stochastic MuZero network for one role: latent states of
// decision nodes and of afterstates, which alternate along every path, addressed by (EnvId,
// NodeId). Plain libtorch on any device; nothing is kept between searches. Spans have the shapes of
// InferenceModel, float32; no gradients. An engine belongs to one thread.
#ifndef LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_
#define LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// Errors as StochasticMuZeroNetwork::Create and MakeEngineDevice.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeStochasticMuZeroEngine(
    const EngineOptions& options);
// Bytes that such an engine keeps for good. Nothing is allocated.
absl::StatusOr<int64_t> StochasticMuZeroEngineBytes(const EngineOptions& options);

}  // namespace lzero

#endif  // LZERO_FAMILY_STOCHASTIC_MUZERO_STOCHASTIC_MUZERO_INFERENCE_H_
