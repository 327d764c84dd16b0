// All model families; FamilyOf finds the one of a config. Each is made in its own folder and lives
// as long as the program; families do not know each other. Any thread.
#ifndef LZERO_FAMILY_PACKED_FAMILIES_H_
#define LZERO_FAMILY_PACKED_FAMILIES_H_

#include <memory>

#include "absl/status/statusor.h"
#include "lzero/config/experiment_config.h"
#include "lzero/env/env.h"
#include "lzero/family/packed/model_family.h"
#include "lzero/inference/inference_engine.h"

namespace lzero {

// UniZeroFamily(), MuZeroFamily(), ...: one for each line of LZ_FAMILIES.
#define LZ_DECLARE_FAMILY(name, text) const ModelFamily& name##Family();
LZ_FAMILIES(LZ_DECLARE_FAMILY)
#undef LZ_DECLARE_FAMILY

const ModelFamily& FamilyOf(const ModelConfig& config);

// The family's packed engine. FailedPrecondition when the options ask for another one: for a
// program without libtorch.
absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedEngine(const EngineOptions& options,
                                                                  const EnvFactory& make_env);

}  // namespace lzero

#endif  // LZERO_FAMILY_PACKED_FAMILIES_H_
