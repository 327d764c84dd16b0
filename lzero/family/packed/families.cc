#include "lzero/family/packed/families.h"

#include <cstddef>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "lzero/base/check.h"
#include "lzero/family/packed/eager_rules.h"

namespace lzero {

const ModelFamily& FamilyOf(const ModelConfig& config) {
#define LZ_FAMILY_FUNCTION(name, text) name##Family,
  static constexpr const ModelFamily& (*kFamilies[])() = {LZ_FAMILIES(LZ_FAMILY_FUNCTION)};
#undef LZ_FAMILY_FUNCTION
  const auto index = static_cast<size_t>(config.family);
  LZ_CHECK(index < std::size(kFamilies), "family ", index);
  return kFamilies[index]();
}

absl::StatusOr<std::unique_ptr<InferenceEngine>> MakePackedEngine(const EngineOptions& options,
                                                                  const EnvFactory& make_env) {
  if (RunsPacked(options.inference)) return FamilyOf(options.model).make_engine(options, make_env);
  return absl::FailedPreconditionError(absl::StrCat(
      "this program was built without libtorch and runs packed networks on the CPU; got ",
      options.inference.device.is_cpu()
          ? "inference.runner: eager"
          : "inference.device: " + DeviceText(options.inference.device),
      "; allowed: device cpu with runner auto or packed"));
}

}  // namespace lzero
