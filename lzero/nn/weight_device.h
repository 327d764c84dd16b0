// Where the layers of the calling thread make their weights: on the CPU, or nowhere. The latter
// makes a network to be counted, however large it is.
#ifndef LZERO_NN_WEIGHT_DEVICE_H_
#define LZERO_NN_WEIGHT_DEVICE_H_

#include <cstdint>

#include "ATen/core/Tensor.h"

namespace lzero {

// The CPU, but for a WeightDeviceGuard.
at::Device WeightDevice();

// While it lives, layers make their weights on the meta device if `device` is that one: sizes
// alone, nothing is allocated or drawn. Else on the CPU.
class WeightDeviceGuard {
 public:
  explicit WeightDeviceGuard(at::Device device);
  ~WeightDeviceGuard();
  WeightDeviceGuard(const WeightDeviceGuard&) = delete;
  WeightDeviceGuard& operator=(const WeightDeviceGuard&) = delete;

 private:
  bool before_;
};

// Seeds what draws weights: the generator of the CPU alone. torch::manual_seed would ask for CUDA,
// and where its library is not loaded yet, libtorch takes the answer for good: no network of this
// process could be on a device any more.
void SeedWeights(uint64_t seed);

}  // namespace lzero

#endif  // LZERO_NN_WEIGHT_DEVICE_H_
