// How exactly a CUDA device multiplies in the forward pass of an update, beside ProductPrecision
// (lzero/tensor): what libtorch must be told, and what it is told again afterwards. Weights,
// gradients and optimiser are float32 whatever it is. On the CPU nothing changes. One update at a
// time.
#ifndef LZERO_TRAIN_UPDATE_UPDATE_PRECISION_H_
#define LZERO_TRAIN_UPDATE_UPDATE_PRECISION_H_

#include "c10/core/Device.h"
#include "c10/core/ScalarType.h"
#include "lzero/config/experiment_config.h"

namespace lzero {

// While it lives, this thread's products of a forward pass on a CUDA device are computed in
// bfloat16 (kBf16; libtorch's autocast) or as their operands are. Casts are not kept: those that a
// capture records must be made again at each replay.
class ForwardPrecision {
 public:
  ForwardPrecision(TrainDtype dtype, at::Device device);
  ~ForwardPrecision();
  ForwardPrecision(const ForwardPrecision&) = delete;
  ForwardPrecision& operator=(const ForwardPrecision&) = delete;

 private:
  const bool casts_;
  bool enabled_before_ = false, cache_before_ = false;
  at::ScalarType dtype_before_ = at::kHalf;
};

}  // namespace lzero

#endif  // LZERO_TRAIN_UPDATE_UPDATE_PRECISION_H_
