// Kernels over rows of logits on the CPU, float32: the cross-entropy against two-hot targets with
// its gradient, and the decoding of values (see value_transform.h). A row is computed on its own,
// so the numbers do not depend on threads. No tensors here.
#ifndef LZERO_KERNELS_SUPPORT_KERNELS_H_
#define LZERO_KERNELS_SUPPORT_KERNELS_H_

#include <cstdint>

namespace lzero {

// Axes: R rows, S atoms -K .. K.
struct TwoHotTask {
  int64_t rows = 0;
  int64_t atoms = 0;
  const float* logits = nullptr;  // [R, S]
  const float* values = nullptr;  // [R] scalars, before h
  float* log_sums = nullptr;      // [R] log of the sum of exp(logits), written by the forward pass
};

// losses [R].
void RunTwoHotLoss(const TwoHotTask& task, float* losses);

// dlogits [R, S] from dlosses [R].
void RunTwoHotLossBackward(const TwoHotTask& task, const float* dlosses, float* dlogits);

// values [R]: means of the atoms under softmax(logits [R, S]), transformed back. NaN where a logit
// is NaN or infinity.
void RunDecode(int64_t rows, int64_t atoms, const float* logits, float* values);

// means [R]: the same before it is transformed back, for rows of logits that lie `stride` apart. In
// the caller's thread.
void ComputeMeanAtoms(int64_t rows, int64_t atoms, const float* logits, int64_t stride,
                      float* means);

}  // namespace lzero

#endif  // LZERO_KERNELS_SUPPORT_KERNELS_H_
