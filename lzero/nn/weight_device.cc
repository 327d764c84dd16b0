#include "lzero/nn/weight_device.h"

namespace lzero {
namespace {

thread_local bool counts_only = false;

}  // namespace

at::Device WeightDevice() { return counts_only ? at::kMeta : at::kCPU; }

WeightDeviceGuard::WeightDeviceGuard(at::Device device) : before_(counts_only) {
  counts_only = device.is_meta();
}

WeightDeviceGuard::~WeightDeviceGuard() { counts_only = before_; }

}  // namespace lzero
