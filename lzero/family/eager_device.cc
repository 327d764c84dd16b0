#include "lzero/family/eager_device.h"

#include "absl/strings/str_cat.h"
#include "lzero/base/log.h"

namespace lzero {

absl::StatusOr<EngineDevice> MakeEagerDevice(const EngineOptions& options) {
  const InferenceConfig& inference = options.inference;
  if (inference.runner == Runner::kAuto && inference.device.is_cuda()) {
    LZ_LOG_DETAIL("runner        ", options.owner.empty() ? "" : absl::StrCat(options.owner, ": "),
                  "auto chose eager: family unizero alone records its searches on a device");
  }
  return MakeEngineDevice(inference);
}

}  // namespace lzero
