// The libtorch side of all model families, and the choice between it and packed engines. Any
// thread.
#ifndef LZERO_FAMILY_TENSOR_FAMILIES_H_
#define LZERO_FAMILY_TENSOR_FAMILIES_H_

#include <cstdint>
#include <memory>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/family/tensor_family.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// UniZeroTensorFamily(), ...: one for each line of LZ_FAMILIES.
#define LZ_DECLARE_FAMILY(name, text) const TensorFamily& name##TensorFamily();
LZ_FAMILIES(LZ_DECLARE_FAMILY)
#undef LZ_DECLARE_FAMILY

const TensorFamily& TensorFamilyOf(const ModelConfig& config);

// The engine that the options ask for: the family's packed one (RunsPacked), or one in libtorch.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(const EngineOptions& options,
                                                            const EnvFactory& make_env);
// Bytes that it keeps for good.
absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options, const EnvFactory& make_env);

}  // namespace lzero

#endif  // LZERO_FAMILY_TENSOR_FAMILIES_H_
