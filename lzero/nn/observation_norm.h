// Observations by their running statistics: vectors less their mean over their deviation, pictures
// and boards less their mean one. The statistics are parameters without gradient: they are copied,
// saved and resumed with the weights. All tensors float32 on the module's device. Const methods may
// run on any thread while nobody writes the weights.
#ifndef LZERO_NN_OBSERVATION_NORM_H_
#define LZERO_NN_OBSERVATION_NORM_H_

#include <cstdint>

#include "ATen/core/Tensor.h"
#include "torch/nn/module.h"

namespace lzero {

class ObservationNorm : public torch::nn::Module {
 public:
  // Observations of `size` numbers; `scales`: by the deviation, too. Nothing is known at first:
  // mean 0, variance 1.
  ObservationNorm(int64_t size, bool scales);

  // x [N, size] -> [N, size]; where it scales held inside +-packed::kLargestNormed. Gradients flow
  // to x alone.
  at::Tensor Forward(const at::Tensor& x) const;

  // Merges mean and variance of x [N, size] into the running ones, by numbers of observations [Chan
  // et al. 1979]; what was seen before counts as kMostCounted of them at most. Nothing changes
  // where `skip`, a float32 scalar, is 1; undefined counts as 0.
  void Observe(const at::Tensor& x, const at::Tensor& skip);

  static constexpr double kMostCounted = 1e6;

 private:
  const bool scales_;
  at::Tensor mean_, variance_;  // [size]
  at::Tensor count_;            // [1]
};

}  // namespace lzero

#endif  // LZERO_NN_OBSERVATION_NORM_H_
