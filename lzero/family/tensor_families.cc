#include "lzero/family/tensor_families.h"

#include <cstddef>

#include "lzero/family/packed/eager_rules.h"
#include "lzero/family/packed/families.h"

namespace lzero {

const TensorFamily& TensorFamilyOf(const ModelConfig& config) {
#define LZ_FAMILY_FUNCTION(name, text) name##TensorFamily,
  static constexpr const TensorFamily& (*kFamilies[])() = {LZ_FAMILIES(LZ_FAMILY_FUNCTION)};
#undef LZ_FAMILY_FUNCTION
  return kFamilies[static_cast<size_t>(config.family)]();
}

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakeEngine(const EngineOptions& options,
                                                            const EnvFactory& make_env) {
  if (RunsPacked(options.inference)) return FamilyOf(options.model).make_engine(options, make_env);
  return TensorFamilyOf(options.model).make_engine(options, make_env);
}

absl::StatusOr<int64_t> EngineBytes(const EngineOptions& options, const EnvFactory& make_env) {
  if (RunsPacked(options.inference)) return FamilyOf(options.model).engine_bytes(options, make_env);
  return TensorFamilyOf(options.model).engine_bytes(options, make_env);
}

}  // namespace lzero
