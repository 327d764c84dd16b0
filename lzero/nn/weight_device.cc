#include "lzero/nn/weight_device.h"

#include <ATen/CPUGeneratorImpl.h>

#include <mutex>

namespace lzero {
namespace {

thread_local bool counts_only = false;

}  // namespace

at::Device WeightDevice() { return counts_only ? at::kMeta : at::kCPU; }

WeightDeviceGuard::WeightDeviceGuard(at::Device device) : before_(counts_only) {
  counts_only = device.is_meta();
}

WeightDeviceGuard::~WeightDeviceGuard() { counts_only = before_; }

void SeedWeights(uint64_t seed) {
  at::Generator generator = at::detail::getDefaultCPUGenerator();
  const std::lock_guard<std::mutex> lock(generator.mutex());
  generator.set_current_seed(seed);
}

}  // namespace lzero
