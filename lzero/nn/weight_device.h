// Where the layers of the calling thread make their weights: on the CPU, or nowhere. The latter
// makes a network to be counted, however large it is.
#ifndef LZERO_NN_WEIGHT_DEVICE_H_
#define LZERO_NN_WEIGHT_DEVICE_H_

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

}  // namespace lzero

#endif  // LZERO_NN_WEIGHT_DEVICE_H_
