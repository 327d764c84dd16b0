// AlphaZero's engine with its network in libtorch, on any device. No gradients. An engine belongs
// to one thread.
#ifndef LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_
#define LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/env/env.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// The weights are those of a fresh network of seed 0. `make_env` makes options.num_envs
// environments; it is not kept. Errors of the encoder, the device and EnvSimulator::Create.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeAlphaZeroEngine(const EngineOptions& options,
                                                                     const EnvFactory& make_env);
// Bytes of weights, buffers and states. Errors as MakeAlphaZeroEngine, but for those of the device.
absl::StatusOr<int64_t> AlphaZeroEngineBytes(const EngineOptions& options,
                                             const EnvFactory& make_env);

}  // namespace lzero

#endif  // LZERO_FAMILY_ALPHAZERO_ALPHAZERO_INFERENCE_H_
