// Kernels over rows of logits on the CPU, float32: the cross-entropy against two-hot targets with
// its gradient, and the decoding of values (see value_support.h). A row is computed on its own,
// so the numbers do not depend on threads. No tensors here.
#ifndef LZERO_KERNELS_SUPPORT_KERNELS_H_
#define LZERO_KERNELS_SUPPORT_KERNELS_H_

#include <cstdint>

#include "lzero/kernels/value_support.h"

namespace lzero {

// Axes: R rows, S atoms.
struct TwoHotTask {
  int64_t rows = 0;
  ValueSupport support = {};
  const float* logits = nullptr;  // [R, S]
  const float* values = nullptr;  // [R] scalars
  float* log_sums = nullptr;      // [R] log of the sum of exp(logits), written by the forward pass
};

// losses [R].
void RunTwoHotLoss(const TwoHotTask& task, float* losses);

// dlogits [R, S] from dlosses [R].
void RunTwoHotLossBackward(const TwoHotTask& task, const float* dlosses, float* dlogits);

// values [R]: of the mean atom under softmax(logits [R, S]). NaN where a logit is NaN or infinity.
void RunDecode(int64_t rows, const ValueSupport& support, const float* logits, float* values);

// The same for rows of logits that lie `stride` apart, in the caller's thread.
void DecodeRows(int64_t rows, const ValueSupport& support, const float* logits, int64_t stride,
                float* values);

}  // namespace lzero

#endif  // LZERO_KERNELS_SUPPORT_KERNELS_H_
